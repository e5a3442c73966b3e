"""Numbers in square brackets in what is quoted: indices of paths stay and are no citations, references go."""

from __future__ import annotations

import pytest

from asky.evidence.verification.checked_reply import check_reply
from asky.llm.extractive.answer import abstain, quote_units
from asky.llm.extractive.units import read_units
from asky.text.indices import indices_in_code, shown_text
from asky.values import Evidence, Location, Source, Span
from tests.unit.llm.test_extractive_units import Passage

SOURCE = Source("s1", "file", "file:///ci", "Builds", path="/ci")


def _checked(text: str, title: str = "Builds") -> list[str]:
    """Return each quotable unit as an answer, then all as the closest passages of one, as they are shown."""
    passages = [Passage(text, title=title)]
    shown = {"P0001": Evidence("P0001", SOURCE, 1, "hash", Span(0, len(text)), text, Location(), 0.5)}
    units = [unit for unit in read_units(passages) if unit.quotable]
    answers = ["".join(quote_units([unit], passages)) for unit in units] + ["".join(abstain(units, passages, None))]
    checked = [check_reply(each, shown, lambda *_: Location(), claims_anything=True) for each in answers]
    verdicts = {claim.verdict for each in checked[:-1] for claim in each.claims}
    assert verdicts <= {"supported"}, [each.claims for each in checked]
    assert not any(each.numbered.lookalikes for each in checked)
    return [each.text for each in checked]


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("The value of steps[1].run is read first.", "The value of steps[1].run is read first."),
        ("Set matrix[0][1] to 4 for a quick run.", "Set matrix[0][1] to 4 for a quick run."),
        ("It reads `argv[1]` and `argv[2]` in turn.", "It reads argv[1] and argv[2] in turn."),
        ("The first name is user_list[12], as a text.", "The first name is user_list[12], as a text."),
        ("The path is sys.argv[1] on all systems.", "The path is sys.argv[1] on all systems."),
        (r"See jobs.build.steps\[2\].env for its depth.", "See jobs.build.steps[2].env for its depth."),
        ("Write rows[3] = 7 and go on with it.", "Write rows[3] = 7 and go on with it."),
        ("The head is queue[1]->next in both.", "The head is queue[1]->next in both."),
        ("Dust burns[1]. It spreads [2, 3] fast[4][5].", "Dust burns. It spreads fast."),
        ("Dust burns[1].The mill was lost.", "Dust burns.The mill was lost."),
        ("It runs on Node.js[3] and example.com[2].", "It runs on Node.js and example.com."),
        ("As the note says[^1], *dust* burns.", "As the note says, dust burns."),
    ],
)
def test_a_path_keeps_its_indices_and_references_are_left_out(markdown: str, shown: str) -> None:
    assert shown_text(markdown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see (steps[1].run), then a[2].", "see (`steps[1].run`), then `a[2]`."),
        ("see `steps[1].run` and **[2]**", "see `steps[1].run` and **`[2]`**"),
        ("nothing [here] to see", "nothing [here] to see"),
    ],
)
def test_a_word_with_a_number_in_brackets_is_shown_as_code(text: str, shown: str) -> None:
    assert indices_in_code(text) == shown


def test_paths_in_prose_and_in_lists_are_quoted_with_their_indices() -> None:
    text = (
        "The value of steps[1].run is read before steps[2].run.\n\n"
        "- `jobs.build.steps[1].run`: lints the sources\n- jobs.build.steps[2].env: says how deep it looks"
    )
    sentence, listed, closest = _checked(text)
    assert sentence == "The value of `steps[1].run` is read before `steps[2].run`. [1]"
    assert listed.splitlines() == [
        "- `jobs.build.steps[1].run`: lints the sources [1]",
        "- `jobs.build.steps[2].env`: says how deep it looks [1]",
    ]
    assert "- The value of `steps[1].run` is read before `steps[2].run`. [1]" in closest


def test_numbers_in_the_entries_of_a_log_are_no_citations() -> None:
    text = "2026-03-01 04:00:01 sshd[812]: Failed password\n2026-03-01 04:00:09 worker[3]: job [17] done"
    first, second, closest = _checked(text, "auth.log")
    assert first == "- 2026-03-01 04:00:01 `sshd[812]`: Failed password [1]"
    assert second == "- 2026-03-01 04:00:09 `worker[3]`: job `[17]` done [1]"
    assert "`sshd[812]`" in closest


def test_code_among_the_closest_passages_is_shown_as_code() -> None:
    (answer, closest) = _checked("def last(rows):\n    value = rows[3]\n    return value[1]", "rows.py")
    assert answer.startswith("```\ndef last(rows):")
    assert "- `def last(rows): value = rows[3] return value[1]` [1]" in closest


def test_a_row_with_an_index_is_shown_as_code() -> None:
    text = "| Name | What it does |\n|---|---|\n| `argv[1]` | names the file `a.txt` |\n| --all | shows [2] all |"
    first, second, _ = _checked(text)
    assert first == "- `Name: argv[1]; What it does: names the file a.txt` [1]"
    assert second == "- `Name: --all; What it does: shows [2] all` [1]"


def test_a_row_without_a_head_and_a_setting_that_have_code_in_them_have_no_index_struck_out() -> None:
    first, closest = _checked("`argv[1]` | names the file")
    assert first == "- `argv[1]` | names the file [1]"
    assert "- `argv[1]` | names the file [1]" in closest
    *_, closest = _checked("jobs.steps[1].run: echo `date`\njobs.steps[2].run: make\njobs.steps[3].id: a", "ci.yaml")
    assert "`jobs.steps[1].run`: echo date" in closest
