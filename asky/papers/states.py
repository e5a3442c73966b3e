"""The states of a session with the library: what the numbers of a list mean, and what may be improved and saved.

    initial    nothing was found yet
    selected   `list` or `find` showed papers
    search     `search` showed passages of papers
    research   a query was answered, with the papers that it cites
    paper      the summary or the PDF of one paper was shown

Every state keeps the papers shown last in the order of their numbers, so that `summary 1` and `open 2` go on working.
An error leads back to `initial` and clears everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from asky.errors import UsageError

StateName = Literal["initial", "selected", "search", "research", "paper"]

SETTING = "papers"
"""The key of the state in the settings of a session."""


@dataclass(frozen=True, slots=True)
class PaperState:
    """The state of a session.

    `last_query_set` are the ids of the papers shown last, numbered from 1. `draft` is a text that `save` writes: of the
    query `original_query`, which `run` answered, or of the paper `selected_paper`.
    """

    name: StateName = "initial"
    last_query_set: tuple[str, ...] = ()
    selected_paper: str | None = None
    draft: str | None = None
    original_query: str | None = None
    run: str | None = None

    def selected(self, papers: Sequence[str]) -> PaperState:
        """Return the state after `list` or `find`."""
        return PaperState("selected", tuple(papers)) if papers else INITIAL

    def searched(self, query: str, papers: Sequence[str], draft: str) -> PaperState:
        """Return the state after `search`: the paper of each passage in order, and what it printed as `draft`."""
        return PaperState("search", tuple(papers), None, draft, query) if papers else INITIAL

    def researched(self, query: str, papers: Sequence[str], draft: str, run: str) -> PaperState:
        """Return the state after `research` or `improve`."""
        return PaperState("research", tuple(papers), None, draft, query, run)

    def summarized(self, paper: str, draft: str) -> PaperState:
        """Return the state after `summary`; an answer stays, to be improved or saved."""
        return self.opened(paper) if self.name == "research" else replace(self.opened(paper), draft=draft)

    def opened(self, paper: str) -> PaperState:
        """Return the state after `open`; numbers go on to mean the papers shown before."""
        if self.name == "research":
            return replace(self, selected_paper=paper)
        return PaperState("paper", self.last_query_set or (paper,), paper, self.draft)

    def numbered(self, name: str) -> str:
        """Return the id of the paper with the number `name` in the last list, or `name` itself if it is no number.

        Raises `UsageError` for a number that the list does not have.
        """
        if not name.isdecimal() or len(name) > 3:
            return name
        if not 1 <= int(name) <= len(self.last_query_set):
            shown = f"the last list has {len(self.last_query_set)}" if self.last_query_set else "nothing is listed yet"
            raise UsageError(f"no paper {name}: {shown}", hint="`asky papers list` lists and numbers the papers")
        return self.last_query_set[int(name) - 1]

    def require_answer(self) -> str:
        """Return the query of the answer to improve. Raises `UsageError` if there is none."""
        if self.name != "research" or self.original_query is None:
            raise UsageError("nothing to improve", hint="`research QUERY` comes first")
        return self.original_query

    def require_draft(self) -> str:
        """Return the text to save. Raises `UsageError` if there is none."""
        if self.draft is None:
            raise UsageError("nothing to save", hint="`research QUERY`, `search QUERY` or `summary PAPER` comes first")
        return self.draft


INITIAL = PaperState()
"""The state at first, and after an error."""


def read_state(settings: Mapping[str, Any] | None) -> PaperState:
    """Return the state in the settings of a session; the initial one if there is none, or none that can be read."""
    found = (settings or {}).get(SETTING)
    if not isinstance(found, dict) or found.get("name") not in get_args(StateName):
        return INITIAL
    texts = {key: found.get(key) for key in ("selected_paper", "draft", "original_query", "run")}
    papers = found.get("last_query_set", ())
    return PaperState(found["name"], tuple(map(str, papers)), **{k: v for k, v in texts.items() if isinstance(v, str)})


def encode_state(state: PaperState) -> dict[str, Any]:
    """Return a state as the setting that `read_state` reads."""
    return asdict(state)
