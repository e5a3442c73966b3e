"""The offer to search with services that need no key, where a question has nothing else to answer from."""

from __future__ import annotations

import os

from asky.app.web import SETUP_HINT
from asky.cli.terminal.confirm import confirm, is_interactive
from asky.cli.terminal.terminal import one_line, say
from asky.config.paths import current_folder
from asky.errors import AskyError


def turns_on_search(error: AskyError) -> bool:
    """Return whether `error` says that no search service is set up, and the user has turned some on for good.

    It asks once, and only on a terminal.
    """
    if SETUP_HINT not in (error.hint or "") or not is_interactive():
        return False
    from asky.app import setup  # after an error only

    names = list(setup.keyless_services())
    say(f"asky: {one_line(error.message)}")
    question = f"Search with {', '.join(names)} from now on? They need no key, and are sent your questions"
    if not confirm(question):
        return False
    setup.use_services(names, environ=os.environ, cwd=current_folder())
    return True
