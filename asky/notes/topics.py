"""The topics of a note that are worth looking up: chosen by a model, or its key phrases with their sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from asky.evidence.passages import fence
from asky.llm.port import Message
from asky.llm.structured import Structured, ask_for_json
from asky.reading.front_matter import front_matter
from asky.research.shortlist.keyphrases import keyphrases
from asky.research.writing.templates import template_text
from asky.text.plain import plain
from asky.text.scrub import one_line
from asky.text.sentences import iter_sentences
from asky.text.terms import terms_of, words
from asky.text.wikilinks import visible

if TYPE_CHECKING:
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget

TopicType = Literal["claim", "concept", "question"]

MAX_TOPICS = 10
MAX_NOTE_CHARS = 200_000
MAX_LABEL_WORDS = 8
"""Nine words of a private text in a row are a quotation, see `asky.research.web.query_leak_guard`."""

_MAX_CONTEXT_CHARS = 400
_MAX_LABEL_CHARS = 100
_CANDIDATES = 40  # key phrases
_MIN_WORDS = 4  # a shorter sentence is a label
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_NO_PROSE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|\||>[ \t]*\[!)[^\n]*$", re.MULTILINE)
_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "topic": {"type": "string", "description": "a label of 2 to 5 words"},
            "context": {"type": "string", "description": "what the note says about it"},
            "type": {"type": "string", "enum": list(get_args(TopicType))},
        },
        "required": ["topic", "context", "type"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a note: its `label` is what is searched for, and `context` what the note says about it."""

    label: str
    context: str = ""
    type: TopicType = "concept"


async def choose_topics(
    model: ChatModel, note: str, focus: str | None, *, marker: str, budget: Budget | None = None
) -> Structured[tuple[Topic, ...]]:
    """Return the topics of `note` that `model` chooses, at most `MAX_TOPICS`, in its order; none if it finds none.

    At most `MAX_NOTE_CHARS` of the note are sent, between fences with `marker`. Raises as `ask_for_json` does.
    """
    asked = fence(note[:MAX_NOTE_CHARS], marker, "note")
    if focus:
        asked = f"Focus especially on: {focus}\n\n{asked}"
    messages = [Message("system", template_text("asky.notes", "topic_extraction_v1.md")), Message("user", asked)]
    return await ask_for_json(model, messages, _SCHEMA, validate=_read_topics, budget=budget)


def _read_topics(value: Any) -> tuple[Topic, ...]:
    """Return the topics in the value of a model. Raises `ValueError` for anything but a list of topics."""
    if not isinstance(value, list):
        raise ValueError("the value is not an array")  # noqa: TRY004 - the type that `ask_for_json` expects
    topics: dict[str, Topic] = {}
    for number, each in enumerate(value, start=1):
        topic = _read_topic(each, number)
        topics.setdefault(topic.label.casefold(), topic)
    return tuple(topics.values())[:MAX_TOPICS]


def _read_topic(value: Any, number: int) -> Topic:
    if not isinstance(value, dict) or not isinstance(value.get("topic"), str):
        raise ValueError(f'member {number} is not an object with a string "topic"')  # noqa: TRY004 - as above
    label = one_line(plain(value["topic"]), _MAX_LABEL_CHARS)
    if not words(label):
        raise ValueError(f"the topic of member {number} is empty")
    if len(label.split()) > MAX_LABEL_WORDS:
        raise ValueError(f"the topic of member {number} has more than 5 words")
    context, kind = value.get("context"), value.get("type")
    return Topic(
        label,
        one_line(context, _MAX_CONTEXT_CHARS) if isinstance(context, str) else "",
        kind if kind in get_args(TopicType) else "concept",  # type: ignore[arg-type]  # one of the three
    )


def find_topics(note: str, focus: str | None, title: str = "") -> tuple[Topic, ...]:
    """Return what a note is about, asks and names; deterministic, at most `MAX_TOPICS`.

    First comes the focus, then the `title`, questions that are short enough to search for, and key phrases of two
    words, each with the first sentence that has it. What has a word of an earlier topic is left out, but for words of
    the title. Phrases of the sentences that share words with the focus come before others.
    """
    sentences = _sentences(_prose(note[:MAX_NOTE_CHARS]))
    wanted = terms_of(focus or "")
    about = [each for each in sentences if wanted & terms_of(each)]
    topics: list[Topic] = []
    taken: set[str] = set()

    def add(label: str, kind: TopicType, context: str | None = None) -> None:
        own = terms_of(label)
        if own and not own & taken and len(topics) < MAX_TOPICS:
            found = context or next((each for each in sentences if own <= terms_of(each)), "")
            topics.append(Topic(label, found, kind))
            taken.update(own)

    if focus:
        add(" ".join(focus.split()[:MAX_LABEL_WORDS]), "concept", about[0] if about else None)
    if len(title.split()) <= MAX_LABEL_WORDS and not any(each.isdigit() for each in title):
        add(title, "concept")
        taken.difference_update(terms_of(title))
    for each in sentences:
        if each.endswith("?") and len(each.split()) <= MAX_LABEL_WORDS:
            add(each.rstrip("?"), "question", each)
    for phrase in (*_phrases([title]), *_phrases(about), *_phrases(sentences)):
        if " " in phrase and not any(terms_of(phrase) <= terms_of(each.label) for each in topics):
            add(phrase, "concept")
    return tuple(topics)


def _phrases(sentences: Sequence[str]) -> tuple[str, ...]:
    return keyphrases("\n".join(sentences), limit=_CANDIDATES)


def _prose(note: str) -> str:
    """Return a note without its properties, code, comments, tables and headings."""
    start = front_matter(note).end
    return _NO_PROSE.sub("\n\n", visible(note, start)[start:])


def _sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown text, as plain text and without the marks of lists."""
    found = (one_line(plain(_ITEM.sub("", text[each.start : each.end])), None) for each in iter_sentences(text))
    return [each for each in found if len(each.split()) >= _MIN_WORDS and len(each) <= _MAX_CONTEXT_CHARS]
