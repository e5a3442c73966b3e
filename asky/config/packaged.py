"""The default configuration files shipped with asky."""

from __future__ import annotations

from pathlib import Path


def packaged_text(name: str) -> str:
    """Return the text of the packaged file `name`, such as `research.toml`.

    The wheel contains it next to this module; in a source checkout it is in the repository's root.
    """
    beside = Path(__file__).with_name(name)
    at_root = Path(__file__).parents[2] / name
    return (beside if beside.is_file() else at_root).read_text(encoding="utf-8")
