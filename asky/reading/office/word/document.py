"""The whole of a Word document: its text, and what stands around and beside it, as one tree."""

from __future__ import annotations

from asky.errors import SourceUnreadable
from asky.reading.office.archive import Package, check_archive
from asky.reading.office.word.names import W14, W, local
from asky.reading.office.word.state import WordState
from asky.reading.office.word.tree import WordBlock, WordChunk, WordNote, WordTable, WordTree, paragraphs
from asky.reading.office.word.walk import WordWalk
from asky.text.beside.remarks import remark

_USUAL_MAIN = "word/document.xml"


def open_word(data: bytes, name: str) -> Package:
    """Return the parts of a Word document. Raises SourceUnreadable: encrypted, unsupported if it is none, failed."""
    check_archive(data, name, None)
    return Package(data)


def read_tree(package: Package, name: str) -> WordTree:
    """Return a document as a tree.

    Raises SourceUnreadable if it is another kind of file, and whatever a parser raises for a damaged one.
    """
    try:
        main = package.main
    except ValueError:
        main = _USUAL_MAIN
    state = WordState(package, main)
    root = state.begin(main)
    if root is None or root.tag != f"{W}document":
        raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
    body = root.find(f"{W}body")
    if body is None:
        return WordTree([], [], [], [], [], [], [])
    blocks = WordWalk(state, main).blocks(body)
    seen: set[str] = set()
    heads = _margins(state, "header", seen)
    feet = _margins(state, "footer", seen)
    endnotes = [
        note
        for part in (heads, blocks, feet)
        for each in paragraphs(part)
        for note in each.notes
        if note.kind == "endnote"
    ]
    return WordTree(heads, blocks, endnotes, feet, _comments(state), state.files, state.unread)


def _margins(state: WordState, kind: str, seen: set[str]) -> list[WordBlock]:
    """Return the heads or feet of all pages, each text once."""
    found: list[WordBlock] = []
    for path in state.margins[kind]:
        root = state.root(path)
        for block in WordWalk(state, path, is_margin=True).blocks(root):
            text = " ".join(said([block]).split())
            if isinstance(block, WordChunk) or (text and text not in seen):
                seen.add(text)
                found.append(_without_head(block))
    return found


def _without_head(block: WordBlock) -> WordBlock:
    """Return a block of a margin without headings and names of columns: its tables only place what they hold."""
    if isinstance(block, WordTable):
        block.header_rows = 0
    for each in paragraphs([block]):
        each.level = 0
    return block


def said(blocks: list[WordBlock]) -> str:
    """Return the text of blocks, a line for each paragraph."""
    return "\n".join("".join(piece.text for piece in each.pieces) for each in paragraphs(blocks))


def _comments(state: WordState) -> list[str]:
    """Return the comments that the text refers to as lines, each with those that reply to it."""
    path = state.path("comments")
    root = state.root(path) if path is not None and state.comments else None
    if root is None or path is None:
        return []
    elements = {each.get(f"{W}id", ""): each for each in root if local(each) == "comment"}
    parents = state.replies()
    paragraph_of = {}  # the id of the last paragraph of each comment, by which replies name it
    for id_, each in elements.items():
        ids = [p.get(f"{W14}paraId") for p in each.iter(f"{W}p") if p.get(f"{W14}paraId")]
        if ids:
            paragraph_of[id_] = ids[-1]
    comment_of = {paragraph: id_ for id_, paragraph in paragraph_of.items()}
    about = {each.id: each.about for each in state.comments}
    replies: dict[str, list[str]] = {}
    for id_, paragraph in paragraph_of.items():
        parent = comment_of.get(parents.get(paragraph or "", ""))
        if parent is not None and parent != id_:
            replies.setdefault(parent, []).append(id_)
    lines: list[str] = []
    seen: set[str] = set()
    waiting = [each.id for each in reversed(state.comments)]
    while waiting:
        id_ = waiting.pop()
        if id_ in seen or id_ not in elements:
            continue
        seen.add(id_)
        for reply in reversed(replies.get(id_, ())):
            about.setdefault(reply, about.get(id_, ""))
            waiting.append(reply)
        element = elements[id_]
        text = said(WordWalk(state, path).blocks(element))
        lines.append(remark(text, author=element.get(f"{W}author", ""), about=about.get(id_, "")))
    return [each for each in lines if each]


def notes_in(blocks: list[WordBlock]) -> list[WordNote]:
    """Return the footnotes that are marked in blocks, in order."""
    return [note for each in paragraphs(blocks) for note in each.notes if note.kind == "footnote"]
