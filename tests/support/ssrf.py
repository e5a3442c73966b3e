"""Addresses by which somebody may try to reach what is not on the public internet, and some that must work.

The public internet of these tests is 93.184.216.34, 93.184.216.35 and 2606:2800::34; whatever else is connected to is
a failure.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

PUBLIC = ("93.184.216.34", "93.184.216.35", "2606:2800::34")
GRANTED = "10.77.0.5"

_V4 = """
127.0.0.1 127.0.0.2 127.127.127.127 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255
192.168.0.1 192.168.255.255 169.254.169.254 169.254.0.1 169.254.170.2 100.64.0.1 100.100.100.200 100.127.255.255
192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250
240.0.0.1 255.255.255.255 168.63.129.16
""".split()  # noqa: SIM905 - addresses read better in lines
_WRITTEN_ODDLY = """
2130706433 0x7f000001 017700000001 0x7f.0.0.1 0177.0.0.1 0x7F.0x00.0x00.0x01 127.1 127.0.1 0x7f.1 00000177.0.0.1
127.000.000.001 0 0x0 0xa9fea9fe 2852039166 0251.0376.0251.0376 0xa9.254.43518 192.168.257 127.0.0.1. １２７.０.０.１
①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1 1%32%37.0%2e0.1 ⓛⓞⓒⓐⓛⓗⓞⓢⓣ
""".split()  # noqa: SIM905 - addresses read better in lines
_V6 = """
::1 :: 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 ::10.0.0.1 ::7f00:1
::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 2002:7f00:1:: 2002:a9fe:a9fe::1
2001:0:4136:e378:8000:63bf:80ff:fffe 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 3fff::1 5f00::1 100::1 100:0:0:1::1
fc00::1 fd00:ec2::254 fd20:ce::254 fe80::1 fe80::1%25lo fec0::1 ff02::1 ff0e::1 4000::1
""".split()  # noqa: SIM905 - addresses read better in lines
_NAMES = {
    "localhost": ["127.0.0.1"],
    "sub.localhost": ["::1"],
    "loopback.test": ["127.0.0.1"],
    "private.test": ["10.0.0.1"],
    "carrier.test": ["100.64.1.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "instance-data": ["169.254.169.254"],
    "azure.test": ["168.63.129.16"],
    "oracle.test": ["192.0.0.192"],
    "alibaba.test": ["100.100.100.200"],
    "zero.test": ["0.0.0.0"],
    "multicast.test": ["224.0.0.1"],
    "broadcast.test": ["255.255.255.255"],
    "mixed.test": ["93.184.216.34", "10.0.0.1"],
    "mixed-last-of-many.test": [*["93.184.216.34"] * 8, "93.184.216.35", "127.0.0.1"],
    "mixed6.test": ["93.184.216.34", "::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "compatible.test": ["::127.0.0.1"],
    "nat64.test": ["64:ff9b::a00:1"],
    "6to4.test": ["2002:7f00:1::"],
    "teredo.test": ["2001:0:4136:e378:8000:63bf:80ff:fffe"],
    "unique-local.test": ["fd00::1"],
    "site-local.test": ["fec0::1"],
    "link-local.test": ["fe80::1%lo"],
    "nonsense.test": ["not an address"],
    "nothing.test": [],
}
_TRICKS = [
    "http://public.test@127.0.0.1/",
    "http://public.test:80@127.0.0.1/",
    "http://127.0.0.1#@public.test/",
    "http://127.0.0.1?@public.test/",
    "http://127.0.0.1\\@public.test/",
    "http://public.test\\@127.0.0.1/",
    "http://127.0.0.1\t/",
    "http://127.0.0.1\n.public.test/",
    " http://127.0.0.1/",
    "\x01http://127.0.0.1/",
    "http://127.0.0.1%00.public.test/",
    "http://127.0.0.1%2f@public.test/",
    "http://127.0.0.1%09/",
    "http:127.0.0.1",
    "http:/127.0.0.1",
    "http:/\\127.0.0.1",
    "http:///127.0.0.1",
    "http:\\\\127.0.0.1\\",
    "//127.0.0.1/",
    "http://127.0.0.1:80:80/",
    "http://[::1]@public.test/",
    "http://[::1]public.test/",
    "http://0://public.test/",
    "HTTP://LOCALHOST/",
    "http://localhost./",
    "http://public.test:80@localhost/",
    "https://127.0.0.1/",
    "http://127.0.0.1:8080/",
]
_SCHEMES = [
    *(f"{scheme}://127.0.0.1/a" for scheme in ("file", "gopher", "ftp", "dict", "ldap", "tftp", "sftp", "ws", "smb")),
    "file:///etc/passwd",
    "jar:http://127.0.0.1!/a",
    "netdoc:///etc/passwd",
    "data:text/html,a",
    "javascript:alert(1)",
    "view-source:http://127.0.0.1",
]
_PORTS = [f"http://public.test:{port}/" for port in (0, 1, 21, 22, 23, 25, 6379, 9200, 11211, 27017, 65535)] + [
    "http://127.0.0.1:6379/",
    "http://93.184.216.34:22/",
]
REDIRECTS = {
    "/to-loopback": "http://127.0.0.1/",
    "/to-metadata": "http://169.254.169.254/latest/meta-data/",
    "/to-no-scheme": "//10.0.0.1/",
    "/to-a-name": "http://private.test/",
    "/to-hexadecimal": "http://0x7f000001/",
    "/to-mapped": "http://[::ffff:127.0.0.1]/",
    "/to-a-port": "http://public.test:6379/",
    "/to-a-file": "file:///etc/passwd",
    "/to-gopher": "gopher://127.0.0.1:6379/_INFO",
    "/to-a-user": "http://public.test@127.0.0.1/",
    "/to-a-backslash": "/\\127.0.0.1/",
    "/to-mixed-answers": "http://mixed.test/",
    "/to-a-second-hop": "/to-loopback",
    "/to-another-host": "http://other.test/to-metadata",
}

VECTORS: list[str] = [
    *(f"http://{host}/" for host in _V4),
    *(f"http://{host}/" for host in _WRITTEN_ODDLY),
    *(f"http://[{host}]/" for host in _V6),
    *(f"http://{name}/" for name in _NAMES),
    "http://changing.test/",
    *_TRICKS,
    *_SCHEMES,
    *_PORTS,
]
CONTROLS = [
    "http://93.184.216.34/",
    "http://public.test/",
    "http://PUBLIC.test.:8080/a?b=c#d",
    "http://six.test/",
    "http://[2606:2800::34]/",
    "http://public.test/to-the-other",
    "http://public.test#\\@127.0.0.1:80\\/",
    "http://rebinding.test/",
    "http://granted.test/",
    f"http://{GRANTED}:7777/",
]


@dataclass
class Names:
    """A resolver with the names of the vectors.

    `changing.test` and `rebinding.test` are public the first time they are asked for, never after; one fetch of a page
    of the first asks twice, for its robots.txt and for the page. `asked` are the names, in the order in which they were
    asked for.
    """

    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        table = {
            **_NAMES,
            "public.test": ["93.184.216.34"],
            "other.test": ["93.184.216.35"],
            "six.test": ["2606:2800::34"],
            "granted.test": [GRANTED],
            **{name: self._answer_once(name) for name in ("rebinding.test", "changing.test")},
        }
        if (name := host.rstrip(".")) not in table:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return table[name]

    def _answer_once(self, name: str) -> list[str]:
        return ["93.184.216.34"] if self.asked.count(name) == 1 else ["127.0.0.1"]
