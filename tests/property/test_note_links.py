"""Every link that is written to a note leads to that note alone, from wherever it stands."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from asky.notes.names import NoteFile, NoteNames

ROOT = Path("/vault")
parts = st.one_of(
    st.sampled_from(["a", "A", "b", "á", "a\u0301", "a.md", "a.txt", "a.png", "a#b", "a|b", "[a]", "a^", "`a`", "%%a"]),
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6),
).filter(lambda part: not part.startswith("."))
paths = st.builds(
    lambda folders, name, suffix: "/".join([*folders, name + suffix]),
    st.lists(parts, max_size=2),
    parts,
    st.sampled_from([".md", ".MD", ".txt", ".markdown"]),
)


@given(st.lists(paths, min_size=1, max_size=12, unique=True))
def test_every_link_written_leads_to_that_one_note(relatives: list[str]) -> None:
    notes = [NoteFile(ROOT / each, each, ROOT) for each in relatives]
    names = NoteNames(notes)
    for note in notes:
        link = names.link_to(note)
        if link.startswith("[["):
            inner = link.removeprefix("[[").removesuffix("]]")
            assert not set("[]#^") & set(inner), link
            target = inner.split("|")[0]
        else:
            target = "/" + unquote(link.rpartition("](")[2].removesuffix(")"), errors="surrogateescape")
        assert {names.resolve(target, source) for source in (None, *notes)} == {note}, link
