"""The offer to search with services that need no key, where a question has nothing else to answer from."""

from __future__ import annotations

import os
from collections.abc import Sequence

from asky.app.web import SET_UP_SEARCH, SETUP_HINT
from asky.cli.terminal.confirm import confirm, is_interactive
from asky.cli.terminal.terminal import one_line, say
from asky.config.paths import current_folder
from asky.errors import AskyError


def turns_on_search(error: AskyError) -> bool:
    """Return whether `error` says that only a search service is missing, and the user has turned some on for good.

    It asks once, and only on a terminal.
    """
    hint = error.hint or ""
    if not (hint == SETUP_HINT or hint.endswith(SET_UP_SEARCH)) or not is_interactive():
        return False
    say(f"asky: {one_line(error.message)}")
    return turns_on_services()


def turns_on_services(names: Sequence[str] = (), used: Sequence[str] = ()) -> bool:
    """Return whether the user has turned on these services, which need no key, for good, beside those `used` so far.

    Without `names`, all that need no key are offered.
    """
    from asky.app import setup  # after an error, or for research

    names = names or list(setup.keyless_services())
    question = f"Search with {', '.join(names)} from now on? They need no key, and are sent your questions"
    if not confirm(question):
        return False
    setup.use_services([*used, *names], environ=os.environ, cwd=current_folder())
    return True
