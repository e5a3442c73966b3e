"""The bodies of requests. A field that is not known is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from asky.app.requests import RunLimits
from asky.app.serving.research import PrivacyMode

MAX_TEXT = 100_000
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT, pattern=r"\S")]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Names = Annotated[list[Name], Field(max_length=100)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Amount = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class RequestBody(BaseModel):
    """A body of JSON."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Limits(RequestBody):
    """Limits of a run; one that is left out is the configuration's, and 0 means none."""

    turns: Count | None = None
    tokens: Count | None = None
    cost_usd: Amount | None = None
    time_s: Amount | None = None

    def as_run_limits(self) -> RunLimits:
        """Return the limits as the use cases have them."""
        return RunLimits(self.turns, self.tokens, self.cost_usd, self.time_s)


class StartResearch(RequestBody):
    """A question for the agent. With `clarify`, it may ask what is meant, at most twice."""

    query: Text
    privacy_mode: PrivacyMode = "cloud_allowed"
    documents: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(max_length=100)] = []
    collections: Names = []
    default_documents: bool = True
    library: bool = True
    vault: bool | None = None
    web: bool = True
    domain: Name | None = None
    model: Name | None = None
    session: Name | None = None
    limits: Limits | None = None
    max_cycles: Annotated[int, Field(ge=1, le=1000)] | None = None
    max_fetches: Annotated[int, Field(ge=0, le=100_000)] | None = None
    clarify: bool = False


class AskQuestion(RequestBody):
    """A question for the chat. Without `wait`, the reply says where to follow the run."""

    question: Text
    mode: Literal["standard", "research", "lean"] | None = None
    session: Name | None = None
    collections: Names = []
    default_documents: bool = True
    web: bool | None = None
    model: Name | None = None
    offline: bool = False
    limits: Limits | None = None
    wait: bool = True


class SearchPassages(RequestBody):
    """A query for passages of the documents that are kept."""

    query: Text
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    collection: Name | None = None


class ApprovalBody(RequestBody):
    """The decision about what a run waits to send; `token` is of the status of the run."""

    token: Name
    approve: bool


class Clarification(RequestBody):
    """The answer to the question that a run waits with."""

    text: Text


class NoteBody(RequestBody):
    """What the user wants a run to know."""

    note: Text


class Login(RequestBody):
    """The token of the server, in exchange for the cookie of a browser."""

    token: Annotated[str, Field(min_length=1, max_length=1000)]
