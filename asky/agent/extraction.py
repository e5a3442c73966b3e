"""Facts and entities in passages: by a model with a schema, or by rules without one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from asky.agent.findings import Findings, FoundStatement, Mention
from asky.agent.planning import MAX_QUERIES, read_queries
from asky.concurrency import in_thread
from asky.evidence.keys import KEY
from asky.evidence.marks import MARKED
from asky.evidence.passages import fence, render_passages
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.verify import verify_claims
from asky.llm.port import Message
from asky.llm.structured import Structured, ask_for_json
from asky.research.writing.templates import fill, template_text
from asky.text.beside.remarks import without_remarks
from asky.text.plain import plain
from asky.text.scrub import one_line
from asky.text.sentences import iter_sentences
from asky.text.terms import terms_of

if TYPE_CHECKING:
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.values import Evidence

_MAX_CHARS = 400
_MAX_NAME_CHARS = 80
_KNOWN = 40  # facts that a model is shown, those nearest to the passages
_SENTENCES = 3  # of one passage, by rules
_MIN_WORDS, _MAX_WORDS = 5, 60
_RELEVANT = 0.25  # the share of the words of what was searched for, by weight, that a fact has by rules
_RELEVANT_ALONE = 0.4  # of a single word
_NAMES = 5  # of one sentence, by rules
_ANSWERED = 0.6  # the share of the words of a sub-question that a fact on it has
_TYPES = ("person", "organization", "product", "place", "work", "concept", "other")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_PROSE = re.compile(r"[^\W\d_|$#>{<].*[.!…。”\"')\]]$", re.DOTALL)
_NAME = re.compile(r"\b[A-Z][\w'&-]*(?:(?: (?:of|the|de|la|van|von|für|for|and|&))? [A-Z0-9][\w'&-]*){0,5}")
_ORGANIZATION = re.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|Corp|Company|University|Institute|Agency|Bank|Ministry|Council|Commission|Society"
    r"|Association|Foundation|Group|Laboratory|Committee|Office|Department)\b"
)


def _array(items: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: Mapping[str, Any] = {"type": "string"}
_NUMBER: Mapping[str, Any] = {"type": "integer"}
_SCHEMA = _object(
    {
        "facts": _array(_object({"statement": _TEXT, "keys": _array(_TEXT), "contradicts": _array(_NUMBER)})),
        "entities": _array(
            _object({"name": _TEXT, "type": {"type": "string", "enum": list(_TYPES)}, "keys": _array(_TEXT)})
        ),
        "answered": _array(_NUMBER),
        "next_queries": _array(_TEXT),
    }
)


@dataclass(slots=True)
class Extracted:
    """What passages state. `answered` are numbers of sub-questions from 0, `next_queries` what a model proposes."""

    facts: list[FoundStatement] = field(default_factory=list)
    entities: list[Mention] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    next_queries: list[str] = field(default_factory=list)

    def add(self, other: Extracted) -> None:
        """Add what other passages state."""
        self.facts += other.facts
        self.entities += other.entities
        self.answered += other.answered
        self.next_queries = other.next_queries or self.next_queries


async def extract_by_model(
    model: ChatModel,
    findings: Findings,
    passages: Sequence[Evidence],
    *,
    with_private: bool,
    marker: str,
    budget: Budget | None,
    reader: ClaimReader | None = None,
) -> Structured[Extracted]:
    """Return what `model` takes from passages, which it may see, and `with_private` also facts from private documents.

    Raises as `ask_for_json` does. A fact that is unsupported or contradicted by its passages is left out; `reader`
    reads what rules leave open.
    """
    known = known_facts(findings, passages, with_private=with_private)
    numbered = [f"{number}. {each.text}" for number, each in enumerate(findings.sub_questions, start=1)]
    question = "\n".join([f"The question: {findings.refined_query}", "Sub-questions:", *numbered])
    facts = [f"{number}. {each}" for number, each in enumerate(known, start=1)]
    values = {
        "QUESTION": fence(question, marker, "question"),
        "KNOWN": fence("\n".join(facts) or "none yet", marker, "facts"),
        "SENT": "; ".join(findings.queries) or "none",
        "PASSAGES": render_passages(passages, marker=marker),
    }
    messages = [Message("user", fill(template_text("asky.agent", "extraction_v1.md"), values))]
    texts = {each.key: each.text for each in passages}
    read = _Reader(texts, known, len(findings.sub_questions)).read
    found = await ask_for_json(model, messages, _SCHEMA, validate=read, budget=budget)
    found.value.facts = await in_thread(_held, found.value.facts, texts, reader)
    return found


def _held(
    facts: Sequence[FoundStatement], texts: Mapping[str, str], reader: ClaimReader | None
) -> list[FoundStatement]:
    checks = verify_claims([(each.text, [texts[key] for key in each.keys]) for each in facts], reader=reader)
    return [each for each, check in zip(facts, checks, strict=True) if check.verdict not in MARKED]


def known_facts(findings: Findings, passages: Iterable[Evidence], *, with_private: bool) -> list[str]:
    """Return the facts that share most words with the passages, at most 40, in the order in which they were found."""
    facts = [each.statement for each in findings.facts() if with_private or not findings.is_private(each)]
    terms = frozenset[str]().union(*(terms_of(each.text) for each in passages))
    best = sorted(range(len(facts)), key=lambda number: (-len(terms & terms_of(facts[number])), number))[:_KNOWN]
    return [facts[number] for number in sorted(best)]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the value of a model about passages, whose texts are by key."""

    texts: Mapping[str, str]
    known: Sequence[str]
    sub_questions: int

    def read(self, value: Any) -> Extracted:
        """Return what is usable. Raises `ValueError` for anything but an object with arrays."""
        if not isinstance(value, dict) or not isinstance(value.get("facts"), list):
            raise ValueError('the value is not an object with an array "facts"')  # noqa: TRY004 - for `ask_for_json`
        named = value.get("entities")
        facts = [fact for each in value["facts"] if (fact := self._fact(each)) is not None]
        entities = [entity for each in (named if isinstance(named, list) else []) if (entity := self._entity(each))]
        answered = [number - 1 for number in _numbers(value.get("answered"), self.sub_questions)]
        return Extracted(facts, entities, answered, list(read_queries(value.get("next_queries")))[:MAX_QUERIES])

    def _fact(self, value: Any) -> FoundStatement | None:
        text, keys = _line(value, "statement", _MAX_CHARS), self._keys(value)
        if not terms_of(text) or not keys:
            return None
        contradicted = _numbers(value.get("contradicts"), len(self.known))
        return FoundStatement(text, keys, tuple(self.known[number - 1] for number in contradicted))

    def _entity(self, value: Any) -> Mention | None:
        name, keys = _line(value, "name", _MAX_NAME_CHARS), self._keys(value)
        kind = value.get("type") if isinstance(value, dict) else None
        return Mention(name, kind if kind in _TYPES else "other", keys) if name and keys else None

    def _keys(self, value: Any) -> tuple[str, ...]:
        """Return the keys of the value that are keys of these passages; a model may write them in brackets."""
        listed = value.get("keys") if isinstance(value, dict) else None
        named = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        return tuple(dict.fromkeys(key for each in named for key in KEY.findall(each) if key in self.texts))


def extract_by_rules(findings: Findings, passages: Sequence[Evidence], about: Callable[[str], str]) -> Extracted:
    """Return the sentences of each passage that are about what it was found for, and the names in them.

    `about` returns that text for a key. A sub-question is answered by a fact that has most of its words.
    """
    found = Extracted()
    sentences = {each.key: _prose(without_remarks(each.text)) for each in passages}
    weigh = _weights([terms_of(text) for listed in sentences.values() for text in listed])
    wanted = {number: terms_of(each.text) for number, each in enumerate(findings.sub_questions)}
    for key, listed in sentences.items():
        for sentence in _relevant(listed, terms_of(about(key)), weigh):
            found.facts.append(FoundStatement(sentence, (key,)))
            own = terms_of(sentence)
            found.answered += [
                number
                for number, each in wanted.items()
                if each and len(each & own) / len(each) >= _ANSWERED and number not in found.answered
            ]
            found.entities += [Mention(name, kind, (key,)) for name, kind in names_in(sentence)]
    return found


def _prose(text: str) -> list[str]:
    """Return the sentences of a text that state something: no headings, tables, commands or questions."""
    found = (one_line(plain(_ITEM.sub("", text[each.start : each.end]))) for each in iter_sentences(text))
    return [each for each in found if _PROSE.match(each) and _MIN_WORDS <= len(each.split()) <= _MAX_WORDS]


def _weights(listed: Sequence[frozenset[str]]) -> Callable[[str], float]:
    """Return a function that weighs a term by how few of the sentences have it; 0 for a term that none has.

    Source: inverse document frequency, Sparck Jones, Journal of Documentation 28(1), 1972.
    """
    counts = Counter(term for terms in listed for term in terms)
    return lambda term: math.log(1 + len(listed) / counts[term]) if counts[term] else 0.0


def _relevant(sentences: Sequence[str], wanted: frozenset[str], weigh: Callable[[str], float]) -> list[str]:
    """Return the sentences that have enough of the words of `wanted`, by weight, at most three, in their order."""
    whole = math.fsum(map(weigh, wanted)) or 1.0
    shared = [wanted & terms_of(each) for each in sentences]
    shares = [math.fsum(map(weigh, each)) / whole for each in shared]
    least = [_RELEVANT if len(each) > 1 else _RELEVANT_ALONE for each in shared]
    enough = [at for at, share in enumerate(shares) if share >= least[at]]
    best = sorted(enough, key=lambda at: -shares[at])[:_SENTENCES]
    return [sentences[at][:_MAX_CHARS] for at in sorted(best)]


def names_in(text: str) -> list[tuple[str, str]]:
    """Return the names in a text with their types, at most five, in order, each once.

    A name is written with capitals, also within a sentence: what has one capital only where a sentence begins is none.
    """
    found: dict[str, str] = {}
    for sentence in iter_sentences(text):
        part = text[sentence.start : sentence.end]
        for match in _NAME.finditer(part):
            name = one_line(match[0]).strip("'&- ")[:_MAX_NAME_CHARS]
            begins = not part[: match.start()].strip("\"'“”‘’«»([#*->| ")
            words = name.split()
            if begins and len(words) == 1 and not name[1:2].isupper():
                continue
            if begins and len(words) > 1 and not terms_of(words[0]):  # "The Bank", "In Paris"
                name = " ".join(words[1:])
            if len(name) > 1 and terms_of(name):
                found.setdefault(name, "organization" if _ORGANIZATION.search(name) else "other")
    return list(found.items())[:_NAMES]


def _line(value: Any, name: str, max_chars: int) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return one_line(plain(text), max_chars).strip() if isinstance(text, str) else ""


def _numbers(value: Any, highest: int) -> list[int]:
    listed = value if isinstance(value, list) else []
    numbers = [each for each in listed if isinstance(each, int) and not isinstance(each, bool)]
    return [each for each in dict.fromkeys(numbers) if 1 <= each <= highest]
