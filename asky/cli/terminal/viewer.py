"""Showing a file in the program that the desktop has for its kind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

_PROGRAM = "open" if sys.platform == "darwin" else "xdg-open"
_PATIENCE_S = 3.0  # it hands the file on and ends, within one; a viewer that it starts itself goes on


def show_file(path: Path) -> str:
    """Open a file, and return a sentence that says which program did, or why none could. Raises nothing.

    What the program prints is dropped: the terminal may show a prompt by then.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        return f"It was not opened: there is no program {_PROGRAM}"
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [program, str(path)], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
        code = process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        code = 0
    except OSError as error:
        return f"It was not opened: {program} cannot be run ({error.strerror})"
    return f"Paper has been opened using {program}" if code == 0 else f"It was not opened: {program} ended with {code}"
