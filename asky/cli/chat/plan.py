"""Show the plan of a question, and let the user edit both, before it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from asky.cli.ask_options import clean_question
from asky.cli.chat.reader import FAREWELLS
from asky.cli.planning import print_plan
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.app.ask import Plan
    from asky.cli.chat.reader import Reader
    from asky.cli.chat.screen import ChatScreen

_QUERY = "search: "


def plan_question(
    screen: ChatScreen, reader: Reader, text: str, as_question: Callable[[ChatScreen, Reader, str], str]
) -> str | None:
    """Show the plan of `text`, or of a question typed now, for editing; return the question to ask, or `None`.

    The search queries are listed below the question, one per line, and can be edited too. An edited question is planned
    again, with the queries typed so far. Without an editing prompt, the plan is shown and nothing is asked.
    `as_question` converts what is typed into a question, and raises `UsageError` for a command, which ends the
    planning.
    """
    question = clean_question(as_question(screen, reader, text or _typed(reader)))
    chosen_queries: tuple[str, ...] = ()
    while True:
        plan = _show(screen, question, chosen_queries)
        if not reader.can_prefill:
            screen.ctx.terminal.note("nothing was asked; type the question to ask it")
            return None
        queries = tuple(" ".join(query.split()) for query in (plan.web.queries if plan.web is not None else ()))
        shown = "\n".join([question, *(_QUERY + query for query in queries)])
        screen.ctx.terminal.note("press Enter to ask this, edit it first, or clear it to cancel")
        edited = reader.read(shown, "plan> ").strip()
        if not edited or edited in FAREWELLS:
            screen.ctx.terminal.note("cancelled; nothing was asked")
            return None
        changed, typed = _split_queries(edited)
        chosen_queries = typed if typed != queries else chosen_queries
        if changed != question:
            changed = clean_question(as_question(screen, reader, changed))
        if changed == question:
            screen.search_for(chosen_queries)
            return question
        question = changed


def _typed(reader: Reader) -> str:
    if not reader.is_interactive:
        raise UsageError("/plan needs a question", hint="for example: /plan How do tides work?")
    return reader.read("", "plan> ")


def _show(screen: ChatScreen, question: str, queries: tuple[str, ...]) -> Plan:
    screen.conversation.look_up()
    request = screen.conversation.request(question, queries)
    plan = screen.ctx.run(lambda: screen.ctx.asky.chat.plan(request))
    print_plan(screen.ctx.terminal, plan, request.limits.within(screen.ctx.asky.config.budget), as_json=False)
    return plan


def _split_queries(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the question, and the queries below it."""
    lines = text.splitlines()
    queries = tuple(" ".join(line[len(_QUERY) :].split()) for line in lines if line.startswith(_QUERY))
    rest = "\n".join(line for line in lines if not line.startswith(_QUERY))
    return rest.strip(), tuple(query for query in queries if query)
