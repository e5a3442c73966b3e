"""What goes wrong on the web, by name: `Site` serves each at `/damage/NAME`.

Names say the damage. What a fetcher is to make of each stands beside its tests.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache

from tests.support.site import Answer, Asked, Wire

PAGE = b"<html><body><p>The mill burnt down in 1911.</p></body></html>"
PROSE = b"".join(b"<p>Line %d: the mill stood by the weir for a long time.</p>\n" % n for n in range(200))
OK = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
HTML = OK + "Content-Type: text/html; charset=utf-8\r\n"
BOMB_BYTES = 512 * 1024 * 1024


def raw(*parts: bytes | str) -> Answer:
    """Send these bytes and close."""

    async def answer(asked: Asked, wire: Wire) -> None:
        for part in parts:
            await wire.send(part)

    return answer


def encoded(name: str, body: bytes) -> Answer:
    """A complete body under a Content-Encoding."""
    return raw(f"{HTML}Content-Encoding: {name}\r\nContent-Length: {len(body)}\r\n\r\n", body)


def typed(media_type: str | None, body: bytes = PAGE) -> Answer:
    line = "" if media_type is None else f"Content-Type: {media_type}\r\n"
    return raw(f"{OK}{line}Content-Length: {len(body)}\r\n\r\n", body)


def status(code: int | str, headers: Mapping[str, str] | None = None, body: bytes = b"<p>sorry</p>") -> Answer:
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    return raw(f"HTTP/1.1 {code} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{lines}\r\n", body)


def to(location: str, code: int = 302) -> Answer:
    return status(code, {"Location": location}, b"")


def wait_after(*parts: bytes | str) -> Answer:
    """Send these bytes and then nothing more."""

    async def answer(asked: Asked, wire: Wire) -> None:
        for part in parts:
            await wire.send(part)
        await wire.hang()

    return answer


def reset_after(*parts: bytes | str) -> Answer:
    async def answer(asked: Asked, wire: Wire) -> None:
        for part in parts:
            await wire.send(part)
        await asyncio.sleep(0.02)  # so that what was sent is read before the reset throws it away
        await wire.reset()

    return answer


def endless(head: str, piece: bytes, *, pause_s: float = 0.0) -> Answer:
    async def answer(asked: Asked, wire: Wire) -> None:
        await wire.send(head)
        while True:
            await wire.send(piece)
            await asyncio.sleep(pause_s)

    return answer


async def dribble(asked: Asked, wire: Wire) -> None:
    """A head, a byte at a time."""
    for byte in HTML + "X-Pad: " + "a" * 100_000:
        await wire.send(byte)
        await asyncio.sleep(0.05)


async def count_down(asked: Asked, wire: Wire) -> None:
    """`/damage/hops/3` leads to `/damage/hops/2` and so on to a page."""
    left = int(asked.path.rpartition("/")[2])
    await (to(f"/damage/hops/{left - 1}") if left else typed("text/html", PAGE))(asked, wire)


async def bomb(asked: Asked, wire: Wire) -> None:
    await encoded("gzip", gzip_of_zeros(BOMB_BYTES))(asked, wire)


async def member_bomb(asked: Asked, wire: Wire) -> None:
    one = gzip.compress(bytes(100_000))
    await encoded("gzip", one * (BOMB_BYTES // 100_000))(asked, wire)


@lru_cache(maxsize=4)
def gzip_of_zeros(size: int) -> bytes:
    """A small gzip file that inflates to `size` zero bytes, made without ever holding them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    block = bytes(1 << 20)
    return b"".join([*(packer.compress(block) for _ in range(size >> 20)), packer.flush()])


def noise(size: int) -> bytes:
    """Bytes that no text has and that hardly pack, the same on every call."""
    state, found = 1, bytearray()
    while len(found) < size:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        found += state.to_bytes(8, "little")
    return bytes(found[:size])


def _later(make: Callable[[], Answer]) -> Answer:
    async def answer(asked: Asked, wire: Wire) -> None:
        await make()(asked, wire)

    return answer


_PACKED = gzip.compress(PROSE)
_CHUNKED = HTML + "Transfer-Encoding: chunked\r\n\r\n"
_LONG = 13 << 20

FRAMING: dict[str, Answer] = {
    "truncated_body": raw(HTML + "Content-Length: 1000\r\n\r\n", PAGE),
    "huge_length": raw(HTML + "Content-Length: 1000000000000000\r\n\r\n", PAGE),
    "chunk_truncated": raw(_CHUNKED, "3e8\r\n", PAGE),
    "chunks_without_end": raw(_CHUNKED, b"%x\r\n%s\r\n" % (len(PAGE), PAGE)),
    "chunk_size_letters": raw(_CHUNKED, "zz\r\n", PAGE, "\r\n0\r\n\r\n"),
    "chunk_size_negative": raw(_CHUNKED, "-5\r\n", PAGE, "\r\n0\r\n\r\n"),
    "chunk_size_huge": raw(_CHUNKED, "fffffffffffffffffffffffff\r\n", PAGE),
    "chunk_extension_bomb": raw(_CHUNKED, "5;a=" + "b" * 300_000 + "\r\nhello\r\n0\r\n\r\n"),
    "chunk_without_line_end": raw(_CHUNKED, "5\r\nhelloxx0\r\n\r\n"),
    "trailer_bomb": raw(_CHUNKED, "5\r\nhello\r\n0\r\n", "X-Trailer: 1\r\n" * 30_000),
    "two_lengths": raw(HTML + f"Content-Length: {len(PAGE)}\r\nContent-Length: 7\r\n\r\n", PAGE),
    "same_length_twice": raw(HTML + f"Content-Length: {len(PAGE)}\r\n" * 2 + "\r\n", PAGE),
    "negative_length": raw(HTML + "Content-Length: -1\r\n\r\n", PAGE),
    "length_letters": raw(HTML + "Content-Length: many\r\n\r\n", PAGE),
    "unknown_transfer": raw(HTML + "Transfer-Encoding: gzip\r\n\r\n", PAGE),
    "no_length": raw(HTML + "\r\n", PAGE),
    "more_than_length": raw(HTML + f"Content-Length: {len(PAGE)}\r\n\r\n", PAGE, "and more"),
    "empty": raw(HTML + "Content-Length: 0\r\n\r\n"),
    "reset_in_body": reset_after(HTML + "Content-Length: 1000\r\n\r\n", PAGE),
    "reset_without_length": reset_after(HTML + "\r\n", PAGE),
    "reset_in_head": reset_after("HTTP/1.1 200 OK\r\nContent-"),
    "close_at_once": raw(),
    "close_in_head": raw("HTTP/1.1 200 OK\r\nContent-"),
    "endless_chunks": endless(_CHUNKED, b"4000\r\n" + b"a" * 0x4000 + b"\r\n"),
    "endless_body": endless(HTML + "\r\n", b"a" * 0x4000),
}
HEADS: dict[str, Answer] = {
    "http_09": raw(PAGE),
    "garbage": raw(noise(5000)),
    "other_protocol": wait_after("SSH-2.0-OpenSSH_9.9\r\n"),
    "status_letters": status("abc"),
    "status_zero": status("000"),
    "status_long": status("99999"),
    "reason_bomb": raw("HTTP/1.1 200 " + "a" * 300_000 + "\r\n\r\n"),
    "header_bomb": raw(HTML + "X-Pad: " + "a" * 1_000_000 + "\r\n\r\n", PAGE),
    "headers_10k": raw(HTML + "X-Pad: aaaaaaaaaa\r\n" * 10_000 + "\r\n", PAGE),
    "header_endless": endless(HTML, b"X-Pad: aaaaaaaaaa\r\n"),
    "header_nul": raw(HTML + "X-Pad: a\x00b\r\n\r\n", PAGE),
    "header_without_colon": raw(HTML + "this is no header\r\n\r\n", PAGE),
    "header_bare_lf": raw(HTML.replace("\r\n", "\n") + "\n", PAGE),
    "header_latin1": raw(HTML + 'ETag: "caf\xe9"\r\nLast-Modified: h\xe4?\r\n\r\n', PAGE),
    "cookies": raw(HTML + "".join(f"Set-Cookie: a{n}={n}\r\n" for n in range(1000)) + "\r\n", PAGE),
    "early_hints": raw("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", HTML + "\r\n", PAGE),
    "endless_continue": endless("", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "switching_protocols": raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: odd\r\nConnection: upgrade\r\n\r\n"),
}
SLOW: dict[str, Answer] = {
    "never_answers": wait_after(),
    "slow_head": dribble,
    "slow_body": endless(HTML + "\r\n", b"a", pause_s=0.05),
    "last_byte_missing": wait_after(HTML + f"Content-Length: {len(PAGE)}\r\n\r\n", PAGE[:-1]),
}
ENCODINGS: dict[str, Answer] = {
    "gzip": encoded("gzip", _PACKED),
    "gzip_by_its_old_name": encoded("X-GZip", _PACKED),
    "gzip_in_members": encoded("gzip", gzip.compress(PROSE[:5000]) + gzip.compress(PROSE[5000:])),
    "gzip_and_garbage": encoded("gzip", _PACKED + b"garbage"),
    "gzip_of_nothing": encoded("gzip", b""),
    "gzip_in_gzip": encoded("gzip", gzip.compress(_PACKED)),
    "gzip_cut": encoded("gzip", _PACKED[: len(_PACKED) // 2]),
    "gzip_cut_in_tail": encoded("gzip", _PACKED[:-4]),
    "gzip_cut_without_length": raw(HTML + "Content-Encoding: gzip\r\n\r\n", _PACKED[:-20]),
    "gzip_bad_sum": encoded("gzip", _PACKED[:-8] + b"\0\0\0\0" + _PACKED[-4:]),
    "gzip_lie": encoded("gzip", PAGE),
    "gzip_twice": encoded("gzip, gzip", gzip.compress(_PACKED)),
    "gzip_in_two_headers": raw(HTML + "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n", _PACKED),
    "deflate": encoded("deflate", zlib.compress(PROSE)),
    "brotli": encoded("br", b"\x8b\x00\x80x\x03"),
    "zstd": encoded("zstd", b"(\xb5/\xfd\x04\x00"),
    "klingon": encoded("klingon", PAGE),
    "identity": encoded("identity", PAGE),
    "empty_encoding": encoded("", PAGE),
    "bomb": bomb,
    "bomb_in_members": member_bomb,
    "long_page": _later(lambda: typed("text/html", PROSE * (_LONG // len(PROSE)))),
    "long_page_packed": _later(lambda: encoded("gzip", gzip.compress(noise(_LONG // 8).hex().encode() * 4, 1))),
    "long_pdf": _later(lambda: typed("application/pdf", b"%PDF-1.7\n" + bytes(_LONG))),
    "long_pdf_that_is_none": _later(lambda: typed("application/pdf", PROSE * (_LONG // len(PROSE)))),
}
REDIRECTS: dict[str, Answer] = {
    "hops": count_down,
    "loop": to("/damage/loop"),
    "to_nowhere": status(302),
    "to_emptiness": to(""),
    "to_a_bad_address": to("http://["),
    "to_a_long_address": to("/" + "a" * 70_000),
    "to_a_file": to("file:///etc/passwd"),
    "to_ftp": to("ftp://example.org/"),
    "to_data": to("data:text/html,hello"),
    "to_a_script": to("javascript:alert(1)"),
    "to_a_private_address": to("http://10.0.0.1/"),
    "to_a_private_address_briefly": to("//169.254.169.254/latest/meta-data/"),
    "to_this_machine": to("http://127.0.0.1:1/"),
    "to_a_user": to("http://user:secret@example.org/"),
    "to_two_places": raw("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"),
    "to_a_fragment": to("/damage/gzip#part"),
    "to_spaces": to("/damage/a page?q=\xe4"),
    "a page": typed("text/html"),
    "permanently": to("gzip", 308),
    "temporarily": to("./gzip", 307),
    "see_other": to("?a=b", 303),
    "use_proxy": to("http://example.org/", 305),
    "with_an_endless_body": endless("HTTP/1.1 302 Found\r\nLocation: /damage/gzip\r\n\r\n", b"a" * 0x4000),
    "refresh": typed("text/html", b'<meta http-equiv="refresh" content="0;url=http://10.0.0.1/">'),
}
STATUSES: dict[str, Answer] = {
    **{f"status_{code}": status(code) for code in (203, 206, 400, 401, 403, 404, 407, 408, 410, 418, 425, 451)},
    **{f"status_{code}": status(code) for code in (429, 500, 501, 502, 503, 504, 511, 599)},
    **{f"status_{code}": raw(f"HTTP/1.1 {code} X\r\n\r\n") for code in (204, 205, 304)},
    "asks_for_a_second": status(429, {"Retry-After": "1"}),
    "asks_for_1000_days": status(429, {"Retry-After": "86400000"}),
    "asks_for_nothing_readable": status(429, {"Retry-After": "soon"}),
    "asks_for_the_past": status(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "asks_for_a_negative_wait": status(503, {"Retry-After": "-5"}),
    "asks_for_the_year_9999": status(503, {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}),
}
TYPES: dict[str, Answer] = {
    "no_type": typed(None),
    "type_garbage": typed(";;==\xff"),
    "type_bomb": typed("text/html; charset=" + "a" * 50_000),
    "charset_rot13": typed("text/html; charset=rot13"),
    "charset_klingon": typed('text/html; charset="klingon-8"'),
    "charset_quoted": typed('Text/HTML; a=b; Charset="ISO-8859-1"'),
    "html_says_pdf": typed("application/pdf"),
    "pdf_says_html": typed("text/html", b"%PDF-1.7\n"),
    "invalid_utf8": typed("text/html; charset=utf-8", b"<p>caf\xe9 \xff\xfe</p>"),
    "utf16_cut": typed("text/html; charset=utf-16", "<p>mill</p>".encode("utf-16")[:-1]),
}
DAMAGES: dict[str, Answer] = {**FRAMING, **HEADS, **SLOW, **ENCODINGS, **REDIRECTS, **STATUSES, **TYPES}
