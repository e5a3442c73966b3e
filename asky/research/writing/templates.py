"""Prompt templates: text files of a package, with variables in double braces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

_VARIABLE = re.compile(r"\{\{([A-Z_]+)\}\}")


@cache
def template_text(package: str, name: str) -> str:
    """Return the text of the file `name` in the folder `prompts` of `package`."""
    return (resources.files(package) / "prompts" / name).read_text(encoding="utf-8")


def all_templates() -> str:
    """Return the text of all templates of asky."""
    package = Path(str(resources.files("asky")))
    return "\n".join(each.read_text(encoding="utf-8") for each in sorted(package.glob("**/prompts/*.md")))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return `template` with each `{{NAME}}` replaced once: what the values contain is left as it is."""
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), template)
