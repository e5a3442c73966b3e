"""Classification of IP addresses: which belong to the public internet.

Source: the special-purpose registries of IANA for IPv4 and IPv6 (RFC 6890 and its updates), and addresses that clouds
answer on inside their networks. `ipaddress.is_global` of Python 3.11 calls NAT64, 6to4, ::/96, fec0::/10, multicast,
168.63.129.16 and 192.0.0.192 global, so it is not used.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_CLOSED_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers; the metadata of one cloud
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # the host under a virtual machine of Azure
        "169.254.0.0/16",  # link-local; the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; the metadata of one cloud
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_OPEN_V6 = IPv6Network("2000::/3")
"""All space assigned for global unicast; everything else is blocked."""

_CLOSED_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which nothing public needs any more and which leads anywhere in IPv4
        "3fff::/20",  # documentation
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")


def parse_ip(text: str) -> Address | None:
    """Parse the address in `text`; return `None` if it is a name. A zone (`%eth0`) stays with the address."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Return whether `address` can only be a host of the public internet.

    An IPv4 address inside an IPv6 one (mapped, or behind NAT64) is classified as IPv4.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _CLOSED_V4)
    if address in _MAPPED or address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _OPEN_V6 and not any(address in network for network in _CLOSED_V6)


def is_loopback(host: str) -> bool:
    """Return whether `host` (a name or an address, without port) is this machine. Source of the names: RFC 6761."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    address = parse_ip(host)
    return address is not None and address.is_loopback


def plain(address: Address) -> Address:
    """Return `address`, or the IPv4 address that it maps."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
