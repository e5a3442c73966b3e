"""A body is decoded to the last byte, in whatever pieces it comes, or its end is missed."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import SourceUnreadable
from asky.net.bodies import Body, Caps, read_body
from asky.net.connection import Head, OpenConnection

CAPS = Caps(page=50_000, pdf=100_000)
PACKED = {"content-encoding": ("gzip",)}
TEXTS = st.lists(st.binary(max_size=300), max_size=3).map(lambda parts: [part * 7 for part in parts])


def read(pieces: Sequence[bytes], headers: Mapping[str, tuple[str, ...]] | None = None, caps: Caps = CAPS) -> Body:
    async def come() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def main() -> Body:
        return await read_body(OpenConnection(Head(200, headers or {}), come()), "mill.test", caps)

    return anyio.run(main)


def cut_up(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    pieces, rest = [], data
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    return [*pieces, rest]


@given(TEXTS, st.lists(st.integers(1, 50), max_size=30))
def test_any_pieces_give_the_same_body(members: list[bytes], sizes: list[int]) -> None:
    whole = b"".join(members)
    assert read(cut_up(whole, sizes)).data == whole
    packed = b"".join(gzip.compress(member) for member in members)
    assert read(cut_up(packed, sizes), PACKED).data == whole


@pytest.mark.parametrize("size", [1 << 18, (1 << 18) + 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_000])
def test_what_the_decoder_still_holds_comes_too(size: int) -> None:
    for text in (bytes(range(200)) * (size // 200 + 1), b"mill " * size):
        packed = gzip.compress(text[:size], 1)
        for pieces in ([packed], cut_up(packed, [len(packed) // 3, 1, 1]), cut_up(packed, [len(packed) - 8])):
            assert read(pieces, PACKED, Caps(1 << 23, 1 << 23)).data == text[:size]


@given(st.binary(min_size=1, max_size=500), st.data())
def test_a_gzip_that_ends_early_is_never_whole(text: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(text)
    end = data.draw(st.integers(1, len(packed) - 1))
    with pytest.raises(SourceUnreadable) as caught:
        read([packed[:end]], PACKED)
    assert caught.value.verdict == "truncated"


@given(st.binary(min_size=20, max_size=400))
def test_no_bytes_make_the_decoder_fail_otherwise(noise: bytes) -> None:
    packed = gzip.compress(noise)
    for data in (b"a" + noise, packed[:10] + noise, packed + b"\x1f\x8b\x08" + noise, packed[:-8] + noise):
        with suppress(SourceUnreadable):
            read([data], PACKED)


@pytest.mark.parametrize(("size", "is_cut"), [(49_999, False), (50_000, False), (50_001, True), (500_000, True)])
def test_a_page_is_cut_at_its_cap(size: int, is_cut: bool) -> None:
    body = read(cut_up(b"a" * size, [30_000] * 20))
    assert (len(body.data), body.is_cut) == (min(size, 50_000), is_cut)


def test_a_pdf_has_a_cap_of_its_own_wherever_its_mark_is() -> None:
    pdf = b"\n" * 1000 + b"%PDF-1.7" + bytes(80_000)
    assert read(cut_up(pdf, [1, 1000, 2, 3])).data == pdf
    assert read([b"\n" * 2000 + pdf]).is_cut
    with pytest.raises(SourceUnreadable, match="a PDF of more than") as caught:
        read([pdf + bytes(80_000)])
    assert caught.value.verdict == "too_large"


def test_what_inflates_hugely_is_no_page_that_is_cut() -> None:
    for text in (bytes(10_000_000), b"%PDF-1.7" + bytes(10_000_000)):
        with pytest.raises(SourceUnreadable, match="expands to more than") as caught:
            read([gzip.compress(text)], PACKED)
        assert caught.value.verdict == "too_large"
    assert read([gzip.compress(bytes(40_000))], PACKED).data == bytes(40_000)
