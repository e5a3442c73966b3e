"""How well the extractive model chooses and abstains, given passages: on ClapNQ the one passage of each question, on
SQuAD 2.0 the eight paragraphs of its article that share most terms with it.

To see every figure: `python -m tests.quality.extractive FOLDER`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from asky.llm.extractive.model import RETRIEVAL_TOOL, ExtractiveModel, ExtractiveSettings
from asky.llm.port import ABSTENTION, Message, ToolSpec
from asky.research.reader.model import ShippedReader
from asky.text.terms import content_terms
from asky.values import Location
from tests.support.model_contract import read_reply

_SHOWN_PARAGRAPHS = 8
_READER = ShippedReader()
_LEAST = 1e-6
_TOOLS = (ToolSpec(RETRIEVAL_TOOL, "", {"type": "object"}),)


@dataclass(frozen=True, slots=True)
class Passage:
    key: str
    title: str
    text: str
    location: Location = Location()  # noqa: RUF009 - a frozen value
    authors: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its passages. A sentence of the passage `gold_text` is gold when it holds one of `gold`."""

    question: str
    passages: tuple[Passage, ...]
    gold: tuple[str, ...]
    gold_text: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares in [0, 1] of all cases: a gold sentence is quoted, a gold passage cited, no answer given."""

    cases: int
    quoted: float
    cited: float
    abstained: float
    words: float


def read_clapnq(folder: Path, name: str) -> Iterator[Case]:
    file = folder / "clapnq_dev" / "split" / f"{name}.dev.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        (passage,) = row["passages"]
        text = " ".join(_untokenised(sentence) for sentence in passage["sentences"])
        gold = [_untokenised(each) for output in row["output"] for each in output["selected_sentences"]]
        yield Case(row["input"], (Passage("P0000", passage["title"], text),), tuple(dict.fromkeys(gold)), text)


def read_squad(folder: Path, *, answerable: bool) -> Iterator[Case]:
    root = folder / "squad2_articles"
    rows = [json.loads(line) for line in (root / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    articles = {row["_id"]: row for row in rows}
    for line in (root / "split" / "queries.dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["is_impossible"] == answerable:
            continue
        article = articles[row["doc"]]
        paragraphs = _closest(row["text"], [part for part in article["text"].split("\n") if part.strip()])
        passages = tuple(Passage(f"P{n:04x}", article["title"], text) for n, text in enumerate(paragraphs))
        gold = tuple(dict.fromkeys(row["answers"])) if answerable else ()
        yield Case(row["text"], passages, gold, row["gold_paragraph"])


SETS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "clapnq-answerable": partial(read_clapnq, name="answerable"),
    "clapnq-unanswerable": partial(read_clapnq, name="unanswerable"),
    "squad2-answerable": partial(read_squad, answerable=True),
    "squad2-unanswerable": partial(read_squad, answerable=False),
}


def measure(cases: Sequence[Case], *, reads: bool = True) -> Figures:
    """The figures of the model over `cases`: with the reader, or by words alone."""
    answers = [answered(case, reads=reads)[0] for case in cases]
    pairs = list(zip(cases, answers, strict=True))
    return Figures(
        len(cases),
        sum(quotes_gold(case, answer) for case, answer in pairs) / len(cases),
        sum(_cites_gold(case, answer) for case, answer in pairs) / len(cases),
        sum(answer.startswith(ABSTENTION) for answer in answers) / len(cases),
        sum(len(answer.split()) for answer in answers) / len(cases),
    )


def answered(case: Case, *, reads: bool = True, least: float | None = None) -> tuple[str, float | None]:
    """Return the answer of the model to a case and its confidence; `least` is the probability that an answer needs."""

    def read(_content: str) -> Sequence[Passage]:
        return case.passages

    settings = ExtractiveSettings() if least is None else ExtractiveSettings(min_answer=max(least, _LEAST))
    model = ExtractiveModel(read_passages=read, read=_READER.answers if reads else None, settings=settings)
    messages = [Message("user", case.question)]
    _, reply = anyio.run(read_reply, model, messages, _TOOLS)
    results = [Message("tool", "", tool_call_id=call.id) for call in reply.message.tool_calls]
    text, last = anyio.run(read_reply, model, [*messages, reply.message, *results], ())
    return text, last.confidence


def quotes_gold(case: Case, answer: str) -> bool:
    if answer.startswith(ABSTENTION):
        return False
    return any(
        key in _gold_keys(case) and any(_holds(quote, gold) or _holds(gold, quote) for gold in case.gold)
        for quote, key in re.findall(r"(\S.*?) \[(P[0-9a-f]{4})\]", answer)
    )


def _cites_gold(case: Case, answer: str) -> bool:
    cited = set(re.findall(r"\[(P[0-9a-f]{4})\]", answer))
    return not answer.startswith(ABSTENTION) and bool(case.gold) and bool(cited & _gold_keys(case))


def _gold_keys(case: Case) -> set[str]:
    return {passage.key for passage in case.passages if passage.text == case.gold_text}


def _holds(text: str, part: str) -> bool:
    return bool(_plain(part)) and f" {_plain(part)} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _closest(question: str, paragraphs: Sequence[str]) -> list[str]:
    asked = set(content_terms(question))
    return sorted(paragraphs, key=lambda text: -len(asked & set(content_terms(text))))[:_SHOWN_PARAGRAPHS]


def _untokenised(sentence: str) -> str:
    """A sentence of ClapNQ without the spaces that its tokeniser left around punctuation."""
    text = re.sub(r"``\s*", '"', sentence)
    text = re.sub(r"\s*''", '"', text)
    text = re.sub(r"\s+([,.;:!?%)\]]|'(?:s|re|ve|ll|d)\b|n't\b)", r"\1", text)
    return re.sub(r"([(\[])\s+", r"\1", text).strip()


def main() -> None:
    for name, reader in SETS.items():
        cases = list(reader(Path(sys.argv[1])))
        print(f"{name:20} with the reader {measure(cases)}")
        print(f"{name:20} by words        {measure(cases, reads=False)}", flush=True)


if __name__ == "__main__":
    main()
