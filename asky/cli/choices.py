"""What a question is asked with: the flags that `ask` and `chat` share, and the parts that they choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from asky.cli.options import complete_model, complete_session
from asky.errors import UsageError
from asky.storage.corpus import DEFAULT_COLLECTION

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Mode
    from asky.cli.asking import Asking
    from asky.cli.web import WebWish
    from asky.cli.workbench import Workbench
    from asky.storage.sessions import Session

BUILTIN = "no model is configured: answering with sentences quoted from the sources"
F = TypeVar("F", bound=Callable[..., Any])
_FOR_RESEARCH = "--all-sessions is about findings, which only research recalls"
C = TypeVar("C", bound="Choices")


@dataclass(frozen=True, slots=True)
class Choices:
    """The flags of a question that say how it is asked, as click names them."""

    research: bool
    lean: bool
    standard: bool
    docs: tuple[Path, ...]
    collection: tuple[str, ...]
    web: bool | None
    site: tuple[str, ...]
    since: str | None
    shortlist: Literal["auto", "on", "off"]
    offline: bool
    session: str | None
    resume: bool
    all_sessions: bool
    model: str | None
    max_turns: int | None
    max_tokens: int | None
    max_cost: float | None
    max_time: float | None

    @property
    def mode(self) -> Mode:
        return "research" if self.research else "lean" if self.lean else "standard"

    @property
    def uses_web(self) -> bool:
        """Whether the question may use the web; documents that it names keep it off, unless --web is there too."""
        names_documents = bool(self.docs or self.collection)
        return not self.lean and self.web is not False and (self.web is True or not names_documents)

    @property
    def has_wishes(self) -> bool:
        """Whether something is said of the sources on the web."""
        return bool(self.site) or self.since is not None

    def following(self: C, session: Session | None) -> C:
        """These flags, and for each that they leave open what earlier questions of the session said.

        Documents that are named now keep the question off the web, as in a new session. That the web was used does not
        demand it: what it was used with may be gone. Sites that are only shut out come to those of the session.
        """
        if session is None:
            return self
        open_mode = not (self.research or self.lean or self.standard)
        said = session.settings
        web = False if self.web is None and said.get("web") is False else self.web
        followed = replace(
            self,
            research=self.research or (open_mode and session.mode == "research"),
            lean=self.lean or (open_mode and session.mode == "lean" and web is not True),
            web=web,
            shortlist=said.get("shortlist", "auto") if self.shortlist == "auto" else self.shortlist,
            model=self.model or said.get("model"),
        )
        if not followed.uses_web:
            return followed
        return replace(followed, site=self._sites(said.get("sites", ())), since=self.since or said.get("since"))

    def _sites(self, earlier: Sequence[str]) -> tuple[str, ...]:
        if not all(each.startswith("-") for each in self.site):
            return self.site
        kept = [each for each in earlier if f"-{each}" not in self.site]
        return tuple(dict.fromkeys([*kept, *self.site]))

    def check(self, *, is_followed: bool = False) -> None:
        """Raise `UsageError` for flags that contradict each other, or the session that they have followed."""
        both = {
            "-s and -c": self.session is not None and self.resume,
            "-r and -L": self.research and self.lean,
            "-r and --standard": self.research and self.standard,
            "-L and --standard": self.lean and self.standard,
            "-L and --web": self.lean and self.web is True,
        }
        is_known = is_followed or (self.session is None and not self.resume)
        if self.all_sessions and not self.research and is_known:
            raise UsageError(_FOR_RESEARCH, hint="add -r")
        for names, are_given in both.items():
            if are_given:
                raise UsageError(f"{names} do not go together", hint="use one of them")
        if self.has_wishes:
            self._check_wishes()

    def _check_wishes(self) -> None:
        from asky.research.source_policy import SourcePolicy  # for a question that has some

        if not self.uses_web:
            hint = "leave them out, or add --web"
            raise UsageError("--site and --since are about the web, which is not used", hint=hint)
        SourcePolicy().narrowed(self.site, self.since, today=datetime.now(timezone.utc).date())

    def settings(self) -> dict[str, object]:
        """What the flags say of the configuration, by dotted key."""
        said = {
            "research.max_turns": self.max_turns,
            "budget.max_tokens": self.max_tokens,
            "budget.max_cost_usd": self.max_cost,
            "budget.max_time_s": self.max_time,
            "research.embedding.local_files_only": self.offline or None,
        }
        return {key: value for key, value in said.items() if value is not None}


_OPTIONS = (
    click.option("-r", "--research", is_flag=True, help="Research: keep findings for later questions of the session."),
    click.option("-L", "--lean", is_flag=True, help="One search and one model call, without tools."),
    click.option("--standard", is_flag=True, help="Neither: the default, also in a session that was asked otherwise."),
    click.option(
        "-d", "--docs", type=click.Path(path_type=Path), multiple=True, help="Answer from this file or folder."
    ),
    click.option("--collection", multiple=True, help="Answer from this collection of `asky corpus`."),
    click.option(
        "--web/--no-web",
        default=None,
        help="Use the web; by default where neither -d nor --collection names documents.",
    ),
    click.option(
        "--site", multiple=True, metavar="DOMAIN", help="Use pages of this domain only; with - before it, none."
    ),
    click.option("--since", metavar="WHEN", help="Use nothing published before: 2024, 2024-05-01, 30d, 6m, 1y."),
    click.option(
        "--shortlist",
        type=click.Choice(["auto", "on", "off"]),
        default="auto",
        help="Choose and read web sources before the model is asked; by default as configured.",
    ),
    click.option("--offline", is_flag=True, help="Reach no host but one on this machine; of the web, use the cache."),
    click.option(
        "-s", "--session", help="Ask in this session; it is made on first use.", shell_complete=complete_session
    ),
    click.option("-c", "--continue", "resume", is_flag=True, help="Ask in the session that was used last."),
    click.option(
        "--all-sessions", is_flag=True, help="With -r: recall findings of every session, not of this one alone."
    ),
    click.option(
        "-m", "--model", help="Answer with this model: an alias or PROVIDER:ID.", shell_complete=complete_model
    ),
    click.option("--max-turns", type=click.IntRange(1, 200), help="Most model calls."),
    click.option("--max-tokens", type=click.IntRange(1), help="Most tokens, prompts and answers together."),
    click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Most money."),
    click.option("--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Longest time."),
)


def choice_options(command: F) -> F:
    """The flags of `Choices`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_answerer(bench: Workbench, choices: Choices) -> Answerer:
    """The answerer for the chosen model. Raises `UsageError` for one on another machine under `--offline`."""
    from urllib.parse import urlsplit

    from asky.net.http import is_loopback

    answerer = bench.services.answerer(choices.model)
    host = answerer.model.host
    if choices.offline and host is not None and not is_loopback(urlsplit(f"//{host}").hostname or ""):
        raise UsageError(
            f"--offline, and the model {answerer.model.name} is at {host}",
            hint="leave --offline out, or choose a model on this machine with -m (extractive needs nothing)",
        )
    return answerer


def add_collections(asking: Asking, bench: Workbench, choices: Choices, last: Session | None) -> None:
    """Add the collections that are named, or the default one where neither the question nor its session names any."""
    names = choices.collection
    has_some = bool(names or choices.docs or (last is not None and last.collections))
    if not has_some and DEFAULT_COLLECTION in bench.services.corpus.collections():
        names = (DEFAULT_COLLECTION,)
    for name in names:
        asking.add_collection(bench.services.corpus.collection(name))


def web_wish(bench: Workbench, choices: Choices) -> WebWish | None:
    """What is said of the web; `None` keeps a question off it, as documents that it names do."""
    if not choices.uses_web:
        return None
    from asky.cli.web import WebWish

    own = bench.services.config.model(choices.model).model.source_shortlist_enabled
    is_demanded = choices.web is True or choices.has_wishes
    return WebWish(is_demanded, choices.shortlist, own, choices.site, choices.since)
