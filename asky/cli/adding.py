"""Adding web pages to a collection, by the addresses on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.errors import AskyError, SourceError, UsageError

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.research.acquire_pages import AddedPages

_USER = re.compile(r"(?<=//)[^/?#]*@")
_SHOWN = 200


def is_address(given: str) -> bool:
    """Whether the user means an address rather than a path; `file://` names a path."""
    return "://" in given and not given.casefold().startswith("file://")


def require_address(given: str) -> None:
    """Raise `UsageError` for an address at which no page can be, before anything is written."""
    from asky.text.urls import parse_address  # for an address only

    try:
        parse_address(given)
    except ValueError as error:
        shown = _USER.sub("", given)[:_SHOWN]  # what stands there may be a password
        raise UsageError(f"{shown}: {error}", hint="add files, folders, and pages at http:// or https://") from None


def add_pages(bench: Workbench, collection: str, urls: Sequence[str]) -> AddedPages:
    """Read the pages at `urls` into `collection`."""
    return bench.run(lambda: bench.services.web.page_acquirer.add(collection, urls))


def require_added(errors: Sequence[AskyError], asked_for: int) -> None:
    """Raise the error of a page that could not be added; of several one of the kind that all of them are."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        kinds = {type(error) for error in errors}
        kind = kinds.pop() if len(kinds) == 1 else SourceError
        raise kind(f"{len(errors)} of {asked_for} pages could not be added", hint="the reasons are above")
