"""Links that a model writes in place of keys: `[Title](URL)` for a web page, `[[Name]]` for a note.

A link to a source that was shown in the run becomes the key of its passage that shares most words with the sentence
before it. Any other link is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from asky.evidence.citations.rewriting import StreamRewriter
from asky.text.terms import STOP_WORDS, words
from asky.text.urls import canonical_url
from asky.values import Evidence

_LINK = re.compile(
    r"!?\[\[(?P<target>[^\[\]\n]{1,400})\]\]|!?\[[^\[\]\n]{0,400}\]\((?P<url>https?://[^\s()<>]{1,1900})\)"
)
_MAX_CHARS = 2_400  # of a link; what is longer is none
_BRACKET = re.compile(r"!?\[")

SourceOfLink = Callable[[str], str | None]
"""Returns the id of the source that the target of a wikilink leads to, `None` if it leads nowhere."""


@dataclass(frozen=True, slots=True)
class LinkCitations:
    """Finds the passages that links mean, among those `shown` in a run, which may grow."""

    shown: Mapping[str, Evidence]
    source_of: SourceOfLink

    def key(self, link: re.Match[str], sentence: str) -> str | None:
        """Return the key of the passage that `link` after `sentence` cites; of equal ones that shown first."""
        if link["url"] is not None:
            passages = self._of_page(link["url"])
        else:
            source = self.source_of(re.split(r"[#|]", link["target"].replace("\\|", "|"))[0].strip())
            passages = [each for each in self.shown.values() if source is not None and each.source.id == source]
        if not passages:
            return None
        wanted = frozenset(words(sentence)) - STOP_WORDS
        return max(passages, key=lambda each: len(wanted.intersection(words(each.text)))).key

    def _of_page(self, url: str) -> Sequence[Evidence]:
        try:
            wanted = canonical_url(url)
        except ValueError:
            return ()
        return [each for each in self.shown.values() if each.source.url and canonical_url(each.source.url) == wanted]


class LinkCitationStream(StreamRewriter):
    """Replaces links in an answer with keys; see `LinkCitations`. A link is held back until it is complete."""

    def __init__(self, citations: LinkCitations) -> None:
        super().__init__()
        self._citations = citations

    def _pieces(self, *, is_final: bool) -> Iterator[str]:
        while self._held:
            opening = _BRACKET.search(self._held)
            if opening is None:
                keep = 0 if is_final or not self._held.endswith("!") else 1
                yield self._pass(len(self._held) - keep)
                return
            yield self._pass(opening.start())
            link = _LINK.match(self._held)
            if link is None and not is_final and _may_go_on(self._held):
                return
            key = self._citations.key(link, self._last_sentence()) if link is not None else None
            if link is None or key is None:
                yield self._pass(link.end() if link is not None else opening.end() - opening.start())
                continue
            self._held = self._held[link.end() :]
            yield f"[{key}]"


def _may_go_on(held: str) -> bool:
    """Return whether `held`, which begins with a bracket, may be the beginning of a link."""
    if "\n" in held or len(held) > _MAX_CHARS:
        return False
    closing = held.find("]")
    if closing < 0:
        return True
    rest = held[closing + 1 :]
    if held.startswith(("[[", "![[")):
        return not rest
    return not rest or (rest.startswith("(") and ")" not in rest and " " not in rest)
