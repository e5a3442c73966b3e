"""What was embedded is reported with -v and --json, and doctor tries the model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.asky_command import run_asky
from tests.support.here import run_here

pytestmark = pytest.mark.model


@pytest.mark.extended
def test_every_command_that_embeds_says_how_much(home: Path, docs: Path) -> None:
    added = json.loads(run_here("corpus", "add", str(docs), "--json", home=home).stdout)
    assert added["embedding"]["texts"] == added["embedded"]
    assert added["embedding"]["tokens"] > 50
    found = run_here("search", "tides", "--json", "-v", home=home)
    usage = json.loads(found.stdout)["embedding"]
    assert (usage["texts"], usage["batches"], usage["truncated"]) == (1, 1, 0)
    assert usage["seconds"] >= 0
    assert f"embedded 1 text ({usage['tokens']} tokens, 1 batch) in " in found.stderr
    answered = run_here("ask", "What raises tides?", "-v", home=home)
    assert re.search(r"^embedded \d+ texts \(\d+ tokens, \d+ batches\) in ", answered.stderr, re.MULTILINE)
    assert "embedded 1 text" not in run_here("search", "tides", home=home).stderr


def test_nothing_embedded_is_null(home: Path, docs: Path) -> None:
    run_here("corpus", "add", str(docs), home=home)
    again = json.loads(run_here("corpus", "add", str(docs), "--json", home=home).stdout)
    assert again["embedding"] is None


@pytest.mark.extended
def test_doctor_runs_the_model(home: Path, docs: Path) -> None:
    run_here("corpus", "add", str(docs), home=home)
    checks = json.loads(run_asky("doctor", "--json", home=home).stdout)["checks"]
    (check,) = (each for each in checks if each["name"] == "embedding")
    assert check["state"] == "ok"
    assert re.fullmatch(r"\d+ tokens in \d+ ms \([\d,]+ a second, one text at a time\)", check["message"])
