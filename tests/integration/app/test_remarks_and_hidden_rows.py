"""Remarks and hidden rows of documents in answers without a model: marked as such, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.here import run_here

LEASE = """# Lease of the quay

The rent of the quay is 5,150 euros a year. The tenant keeps the north end free of nets.

The crane lifts four tonnes.

[Comment by Ada Byrne on “5,150 euros”: Is this true? I think the rent was lowered to 3,900 euros.]
[Comment by Bo: The crane was sold in May to Hansen.]
"""
STORES = """Stores (hidden sheet)

Item: Crane; Price: 900 crowns
[hidden row] Item: Winch; Price: 450 crowns
Item: Rope; Price: 70 crowns
"""
CALLOUTS = """# Anchor

> [!warning]- Storm rule
> The crew lets out 70 metres of chain in a storm. ^storm-rule

> [!tip] Ada owns the red dinghy of the club ^tip
"""


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[str], str]:
    for name, text in (("lease.md", LEASE), ("stores.txt", STORES), ("Anchor.md", CALLOUTS)):
        (tmp_path / name).write_text(text)
    environ = {"ASKY_HOME": str(tmp_path / "asky")}

    def answer(question: str, file: str = "lease.md") -> str:
        return run_here("ask", "-q", "-d", str(tmp_path / file), question, home=tmp_path, environ=environ).stdout

    return answer


@pytest.mark.model
@pytest.mark.parametrize(
    "question", ["What is the rent of the quay?", "To whom was the crane sold?", "What is lease.md about?"]
)
def test_a_remark_is_no_answer_to_another_question(ask: Callable[[str], str], question: str) -> None:
    said = ask(question)
    assert "Comment" not in said
    assert "3,900" not in said
    assert "Hansen" not in said


@pytest.mark.model
def test_a_question_for_remarks_quotes_the_whole_line(ask: Callable[[str], str]) -> None:
    line = LEASE.splitlines()[6]
    said = ask("What comments are there on the rent?")
    assert f"- {line} [1]\n" in said
    assert "unsupported" not in said


@pytest.mark.model
def test_a_hidden_row_keeps_its_mark(ask: Callable[..., str]) -> None:
    assert "[hidden row] Item: Winch; Price: 450 crowns [1]" in ask("What is the price of the winch?", "stores.txt")


@pytest.mark.model
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much chain does the crew let out in a storm?", "The crew lets out 70 metres of chain in a storm. [1]"),
        ("Who owns the red dinghy?", "Ada owns the red dinghy of the club [1]"),
    ],
)
def test_a_callout_is_quoted_without_its_marks(ask: Callable[..., str], question: str, answer: str) -> None:
    said = ask(question, "Anchor.md")
    assert answer in said
    assert "[!" not in said
    assert "^" not in said


@pytest.mark.model
def test_verify_takes_no_remark_for_a_statement_or_for_support(tmp_path: Path, ask: Callable[[str], str]) -> None:
    ask("What is the rent?")
    draft = tmp_path / "draft.md"
    draft.write_text("The crane was sold in May to Hansen.\n\n[Comment by Bo: The rent is 3 euros.]\n")
    environ = {"ASKY_HOME": str(tmp_path / "asky")}
    said = run_here("verify", str(draft), "-d", str(tmp_path / "lease.md"), home=tmp_path, environ=environ).stdout
    assert "✗ The crane was sold in May to Hansen.  unsupported" in said
    assert "1 statement" in said
