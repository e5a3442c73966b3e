"""Names with accents: `é` may be one character or two, and file systems that keep names as given tell them apart."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path


def as_on_disk(path: Path) -> Path:
    """Return the path of the file or folder that is there under the same name with its accents composed otherwise.

    That is `path` itself if it exists, and if nothing has such a name or several files have. A folder is listed only
    for a name with accents that is not there.
    """
    if str(path).isascii() or os.path.lexists(path):
        return path
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        below = _below(found, part)
        if below is None:
            return path
        found = below
    return found


def _below(folder: Path, name: str) -> Path | None:
    """Return what is in `folder` under `name`, or under the only name that is the same in composed form."""
    if os.path.lexists(folder / name):
        return folder / name
    wanted = unicodedata.normalize("NFC", name)
    try:
        same = [each for each in os.listdir(folder) if unicodedata.normalize("NFC", each) == wanted]  # noqa: PTH208 - names only
    except (OSError, ValueError):  # no file can have such a name
        return None
    return folder / same[0] if len(same) == 1 else None
