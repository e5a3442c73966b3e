"""What the tests need is named twice: for pip, which may be too old for dependency groups, and for other installers."""

from __future__ import annotations

import re
import sys

from tests.support.asky_command import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_make_installs_the_tools_of_the_dev_group() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    grouped = {re.split(r"[^\w.-]", each)[0] for each in project["dependency-groups"]["dev"]}
    listed = re.search(r"^DEV := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert listed is not None
    assert set(listed[1].split()) == grouped
