"""The configuration files that asky ships."""

from __future__ import annotations

from pathlib import Path


def packaged_text(name: str) -> str:
    """The text of the packaged file `name`, such as `research.toml`.

    The wheel holds it beside this module; in a source checkout it lies at the repository's root.
    """
    beside = Path(__file__).with_name(name)
    at_root = Path(__file__).parents[2] / name
    return (beside if beside.is_file() else at_root).read_text(encoding="utf-8")
