"""What a run begins with, as its record keeps it: enough to go on in another process, or without any model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from asky.chat.packing import pack_access, unpack_access
from asky.evidence.passages import new_marker
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Question

_LIMITS = ("max_turns", "max_passages", "passage_tokens")


@dataclass(frozen=True, slots=True)
class Begun:
    """The question, the name of its session, the model, the settings that count, and what the command line said.

    `marker` is that of the run's fences.
    """

    question: Question
    session: str
    model: str
    host: str | None
    context_tokens: int
    offers_tools: bool
    limits: Mapping[str, int]
    given: Mapping[str, Any]
    marker: str = field(default_factory=new_marker)

    def pack(self) -> dict[str, Any]:
        """As JSON."""
        question = self.question
        return {
            "text": question.text,
            "shown": question.shown,
            "mode": question.mode,
            "collections": question.scope.collections,
            "sources": question.scope.sources,
            "rejected": question.rejected,
            "web": pack_access(question.web),
            "memory": question.memory,
            "session": self.session,
            "model": self.model,
            "host": self.host,
            "context_tokens": self.context_tokens,
            "offers_tools": self.offers_tools,
            "limits": dict(self.limits),
            "given": dict(self.given),
            "marker": self.marker,
        }

    def settle(self, owner: Answerer) -> Answerer:
        """`owner` with the settings that the run began with."""
        turns, passages, tokens = (self.limits[name] for name in _LIMITS)
        settings = replace(owner.settings, max_turns=turns, max_passages=passages, passage_tokens=tokens)
        return replace(owner, settings=settings, offers_tools=self.offers_tools)


def begin(owner: Answerer, question: Question, session: str) -> Begun:
    """What a run of `owner` begins with."""
    limits = {name: getattr(owner.settings, name) for name in _LIMITS}
    model = owner.model
    return Begun(
        question, session, model.name, model.host, model.context_tokens, owner.offers_tools, limits, owner.given
    )


def unpack_begun(data: Mapping[str, Any]) -> Begun:
    """What `Begun.pack` packed."""
    from asky.chat.answering import Question  # which imports this module

    scope = Scope(*(None if each is None else tuple(each) for each in (data["collections"], data["sources"])))
    rejected = tuple((url, why) for url, why in data["rejected"])
    access = unpack_access(data["web"])
    question = Question(data["text"], data["shown"], data["mode"], scope, rejected, access, data["memory"])
    names = ("session", "model", "host", "context_tokens", "offers_tools", "limits", "given", "marker")
    return Begun(question, **{name: data[name] for name in names})
