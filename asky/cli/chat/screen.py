"""A conversation on a terminal: its turns, with what is typed during them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from asky.cli.context import Stopped
from asky.cli.terminal.approval import Approval
from asky.cli.view import open_view, run_to_end
from asky.text.small_talk import is_small_talk, is_thanks, needs_no_answer
from asky.values import Answer

if TYPE_CHECKING:
    from asky.app.conversation import Conversation
    from asky.cli.chat.type_ahead import TypeAhead
    from asky.cli.context import CommandContext
    from asky.cli.view import View


class ChatScreen:
    """The state of `asky chat` between two inputs. `keyboard` is set if notes can be typed during a turn.

    `answer` is the last answer of this chat. `library` has the commands of the paper library;
    while the chat is `in_library`, a line is one of these.
    """

    def __init__(
        self,
        ctx: CommandContext,
        conversation: Conversation,
        keyboard: TypeAhead | None = None,
        library: click.Group | None = None,
    ) -> None:
        self.ctx = ctx
        self.conversation = conversation
        self.keyboard = keyboard
        self.answer: Answer | None = None
        self.library = library or click.Group()
        self.in_library = False
        self._queries: tuple[str, ...] = ()

    @property
    def queries(self) -> Sequence[str]:
        """The search queries of the next question; if empty, they are derived from the question."""
        return self._queries

    def search_for(self, queries: Sequence[str]) -> None:
        """Set the search queries of the next question; if empty, they are derived from the question."""
        self._queries = tuple(queries)

    def forget_answer(self) -> None:
        """Forget the last answer, which belongs to another session."""
        self.answer = None

    def is_small_talk(self, line: str) -> bool:
        """Return whether `line` only thanks or greets, and no model needs to see it.

        It may answer another model than the built-in one, which asks nothing: a "yes" or "no" always, and "ok" if the
        last answer ends with a question.
        """
        if self.conversation.uses_built_in:
            return is_small_talk(line)
        asks_back = self.answer is not None and self.answer.text.rstrip().endswith("?")
        return needs_no_answer(line) and (not asks_back or is_thanks(line))

    def ask(self, question: str) -> None:
        """Ask, and print the answer as it arrives.

        The partial answer of a stopped turn is printed too. Raises as `ChatService.raise_for_outcome` does, after
        printing.
        """
        chat = self.ctx.asky.chat
        if self.conversation.look_up() is None:
            self.answer = None
        view = open_view(self.ctx, "text", waits=False, why="/why N" if self.answer is None else None)
        approve = Approval(self.ctx.terminal, self.ctx.progress, keyboard=self.ctx.typing, before=view.close)
        with closing(view):
            try:
                answer = run_to_end(
                    self.ctx,
                    view,
                    lambda listen: self.conversation.start(
                        question,
                        queries=self._queries,
                        listen=listen,
                        notes=lambda: self._notes(view),
                        approve=approve,
                    ),
                )
            except Stopped as stop:
                if isinstance(stop.value, Answer):  # none if reading the documents was stopped
                    self._show_answer(stop.value, view)
                raise
            finally:
                self._queries = ()
                self.conversation.follow()
            self._show_answer(answer, view)
        chat.raise_for_outcome(answer)

    def _show_answer(self, answer: Answer, view: View) -> None:
        self.answer = answer
        if answer.text:
            view.show(answer)
            self.ctx.terminal.out.flush()

    def _notes(self, view: View) -> Sequence[str]:
        """Return the notes typed since the last model call, and print them."""
        notes = self.keyboard.take() if self.keyboard is not None else ()
        if notes:
            view.close()  # ends the current row
            self.ctx.progress.clear()
        for note in notes:
            self.ctx.terminal.note(f"note to the model: {note}")
        return notes
