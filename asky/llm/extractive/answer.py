"""The text of an extractive answer: quoted sentences with their keys, or an abstention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from asky.llm.extractive.sentences import PassageText, Sentence
from asky.llm.port import ABSTENTION

_MAX_FAILURE_CHARS = 200


def quote_sentences(sentences: Sequence[Sentence], passages: Sequence[PassageText]) -> Iterator[str]:
    """Yield the answer in pieces that join to Markdown: each sentence with its key, a paragraph for each source.

    `sentences` are best first; sources come in the order of their best sentence, and so do the passages of a source,
    whose sentences are in text order. Fragments without a full stop are put in a list.
    """
    previous: Sentence | None = None
    for sentence in _in_reading_order(sentences, passages):
        passage = passages[sentence.passage]
        yield f"{_separator(previous, sentence, passages)}{sentence.quote} [{passage.key}]"
        previous = sentence


def abstain(closest: Sequence[Sentence], passages: Sequence[PassageText], failure: str | None) -> Iterator[str]:
    """Yield an abstention in pieces: that there is no answer, then the closest sentences, or why there are none.

    `failure` says why the search did not work, `None` if it did.
    """
    yield ABSTENTION
    if closest:
        yield "\n\nThe closest passages say:\n"
        for sentence in closest:
            yield f"\n- {sentence.quote} [{passages[sentence.passage].key}]"
    elif failure is not None:
        yield f"\n\nThe search did not work: {' '.join(failure.split())[:_MAX_FAILURE_CHARS]}"
    elif passages:
        yield "\n\nNo passage that was found comes close."
    else:
        yield "\n\nNo passage was found."


def _in_reading_order(sentences: Sequence[Sentence], passages: Sequence[PassageText]) -> list[Sentence]:
    titles = list(dict.fromkeys(passages[sentence.passage].title for sentence in sentences))
    ranks = list(dict.fromkeys(sentence.passage for sentence in sentences))
    return sorted(
        sentences,
        key=lambda s: (titles.index(passages[s.passage].title), ranks.index(s.passage), s.position),
    )


def _separator(previous: Sentence | None, sentence: Sentence, passages: Sequence[PassageText]) -> str:
    """Return the separator before `sentence`: a space in a paragraph, a line break in a list, else a blank line."""
    bullet = "" if sentence.complete else "- "
    if previous is None:
        return bullet
    if passages[previous.passage].title != passages[sentence.passage].title or previous.complete != sentence.complete:
        return "\n\n" + bullet
    return " " if sentence.complete else "\n- "
