"""An answer with planted faults: each is flagged with its reason, and nothing else is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asky.evidence.passages import parse_passages
from tests.support.endpoint import Endpoint, Request
from tests.support.here import run_here

DOCUMENTS = {
    "harbour.md": """# The harbour of Orle

The harbour of Orle was dug in 1884. Captain Reva sold the old lighthouse to the town. The north quay is 240 metres
long. Trade with the outer islands grew until 1931. The ferry to the islands does not sail in winter. Fishermen repair
their nets on the east quay.
""",
    "mill.md": """# The mill of Orle

The mill grinds barley and rye for three villages. Its wooden wheel was replaced by an iron turbine in 1902. The miller
writes: "We have never stopped for a single day since the turbine came."
""",
    "boats.md": """# Boats by quay

| Quay | 2019 | 2020 |
|---|---|---|
| North quay | 12 | 15 |
| East quay | 30 | 28 |
""",
}
RIGHT = (
    "The harbour of Orle was dug in 1884 [harbour].",
    "Nets are repaired on the east quay by fishermen [harbour].",
    "The ferry to the islands doesn't sail in winter [harbour].",
    "An iron turbine replaced the wooden wheel of the mill in 1902 [mill].",
    'The miller says that they "have never stopped for a single day" [mill].',
    "The old lighthouse was sold to the town by Captain Reva [harbour].",
    "The north quay had 12 boats in 2019 [boats].",
)
PLANTED = {
    "The north quay is 420 metres long [harbour].": ("contradicted", "different number"),
    "The town sold the old lighthouse to Captain Reva [harbour].": ("contradicted", "the other way round"),
    "The ferry to the islands sails in winter [harbour].": ("contradicted", "negation"),
    "Trade with the outer islands levelled off until 1931 [harbour].": ("contradicted", "opposite"),
    "On page 12, fishermen repair their nets on the east quay [harbour].": ("unsupported", "not in the passages: 12"),
    'The miller calls it "the finest turbine in the whole kingdom" [mill].': ("unsupported", "not quoted from them"),
    "The mill grinds barley and rye for three villages [harbour].": ("unsupported", "supports it"),
    "The east quay had 30 boats in 2020 [boats].": ("contradicted", "East quay, 2020 is 28"),
}


def written(request: Request) -> str:
    """The answer, with the key of the passage of each document in place of its name."""
    shown = parse_passages("\n".join(str(message["content"]) for message in request.messages))
    keys = {name: next(each.key for each in shown if text[2:12] in each.text) for name, text in DOCUMENTS.items()}
    answer = "\n\n".join([*RIGHT, *PLANTED])
    for name, key in keys.items():
        answer = answer.replace(f"[{name.removesuffix('.md')}]", f"[{key}]")
    return answer


Ask = Callable[..., str]


@pytest.fixture
def asky(tmp_path: Path) -> Iterator[Ask]:
    """Run a command, with a model that plants the faults, and return what it prints."""
    (tmp_path / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    with Endpoint(written) as endpoint:
        environ = {
            "ASKY_PROVIDERS__LAB__BASE_URL": endpoint.base_url,
            "ASKY_MODELS__FAR__PROVIDER": "lab",
            "ASKY_MODELS__FAR__ID": "test-model",
            "ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model"),
        }

        def ask(*arguments: str) -> str:
            done = run_here(*arguments, home=tmp_path, environ=environ)
            assert done.returncode == 0, done.stderr
            return done.stdout

        yield ask


QUESTION = ("ask", "--lean", "-m", "far", "-d", "docs", "What is known of the harbour, the mill and the boats of Orle?")


def test_each_planted_fault_is_flagged_with_its_reason_and_nothing_else_is(asky: Ask) -> None:
    answer = json.loads(asky(*QUESTION, "--json"))
    verdicts = {_said(claim["text"]): claim["verdict"] for claim in answer["claims"]}
    assert verdicts == {_said(text): "supported" for text in RIGHT} | {
        _said(text): verdict for text, (verdict, _) in PLANTED.items()
    }
    shown = asky("runs", "show")
    for text, (_, because) in PLANTED.items():
        assert any(because in line for line in shown.splitlines() if _said(text) in line)


def test_a_better_passage_is_offered_for_a_claim_with_the_wrong_citation(asky: Ask) -> None:
    asky(*QUESTION)
    opened = asky("why", "1")
    assert "supports “The mill grinds barley and rye for three villages" in opened
    assert "grinds barley and rye" in opened.partition("supports")[2]
    better = json.loads(asky("why", "1", "--json"))["better"]
    assert [each["title"] for each in better] == ["The mill of Orle"]


def _said(text: str) -> str:
    """The text without the number or the name that it cites."""
    return re.sub(r" \[[^]]*\]\.?$", "", text).rstrip(".")
