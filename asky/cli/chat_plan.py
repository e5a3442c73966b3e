"""Looking at what a question would do, and changing it, before it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.cli.chat_commands import typed_question
from asky.cli.chat_reader import FAREWELLS
from asky.cli.planning import print_plan
from asky.cli.questions import clean_question
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.chat.plan import Plan
    from asky.cli.chat_reader import Reader
    from asky.cli.chat_talk import Talk

_QUERY = "search: "


def plan_question(talk: Talk, reader: Reader, text: str) -> str | None:
    """Show the plan of `text`, or of what is typed now, and let it be changed; returns what is to be asked now.

    What will be searched for stands below the question, a line each, and can be changed like it. A question that was
    changed is planned anew, with the queries that were typed so far. Without an editing prompt the plan is shown and
    nothing is asked. Raises `UsageError` for a command: it is not done, and the plan is left.
    """
    question = clean_question(typed_question(talk, reader, text or _typed(reader)))
    wanted: tuple[str, ...] = ()
    while True:
        plan = _show(talk, question, wanted)
        if not reader.can_prefill:
            talk.bench.terminal.note("nothing was asked: type the question to ask it")
            return None
        queries = tuple(" ".join(query.split()) for query in (plan.web.queries if plan.web is not None else ()))
        shown = "\n".join([question, *(_QUERY + query for query in queries)])
        talk.bench.terminal.note("Enter asks this as it stands; change it first, or clear it to drop it")
        answered = reader.read(shown, "plan> ").strip()
        if not answered or answered in FAREWELLS:
            talk.bench.terminal.note("dropped: nothing was asked")
            return None
        changed, typed = _parted(answered)
        wanted = typed if typed != queries else wanted
        if changed != question:
            changed = clean_question(typed_question(talk, reader, changed))
        if changed == question:
            talk.search_for(wanted)
            return question
        question = changed


def _typed(reader: Reader) -> str:
    if not reader.is_interactive:
        raise UsageError("/plan needs a question", hint="for example: /plan How do tides work?")
    return reader.read("", "plan> ")


def _show(talk: Talk, question: str, queries: tuple[str, ...]) -> Plan:
    talk.search_for(queries)
    try:
        session, asking = talk.look_up(), talk.asking()
    finally:
        talk.search_for(())  # a plan that is left leaves nothing to the next question
    for path in talk.choices.docs:
        asking.grant(path)
    plan = asking.plan(question, None, session.id if session is not None else None, False)
    print_plan(talk.bench.terminal, plan, talk.bench.services.config.budget, as_json=False)
    return plan


def _parted(text: str) -> tuple[str, tuple[str, ...]]:
    """The question, and the queries below it."""
    lines = text.splitlines()
    queries = tuple(" ".join(line[len(_QUERY) :].split()) for line in lines if line.startswith(_QUERY))
    rest = "\n".join(line for line in lines if not line.startswith(_QUERY))
    return rest.strip(), tuple(query for query in queries if query)
