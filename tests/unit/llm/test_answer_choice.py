"""Which units answer plain questions about notes, tables, settings and chats: words alone decide here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from asky.llm.extractive.answer import quote_units
from asky.llm.extractive.questions import read_question
from asky.llm.extractive.scoring import Scorer
from asky.llm.extractive.selection import select_units, tasks_first
from asky.llm.extractive.tasks import asked_tasks, task_state
from asky.llm.extractive.units import read_units
from asky.values import Location


@dataclass(frozen=True)
class Passage:
    text: str
    title: str = "Notes"
    key: str = "P0001"
    location: Location = Location()  # noqa: RUF009 - a frozen value
    authors: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def answer(question: str, *passages: Passage | str) -> str:
    shown: Sequence[Passage] = [each if isinstance(each, Passage) else Passage(each) for each in passages]
    asked, scorer = read_question(question), Scorer(shown, read_units(shown))
    scored = tasks_first(asked, scorer.score(asked), scorer)
    return "".join(quote_units(select_units(scorer, asked, scored, []), shown))


TASKS = "# Firmware\n\n## Tasks\n\n- [x] check the version\n- [ ] order cables\n- [ ] ask Ann about the test\n"


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("What's still to do for the firmware?", "open"),
        ("my open tasks", "open"),
        ("firmware todos", "open"),
        ("which actions aren't done yet?", "open"),
        ("what is already done for the firmware", "done"),
        ("What do tides do?", None),
        ("Who opened the door?", None),
    ],
)
def test_questions_for_tasks_are_recognised(question: str, state: str | None) -> None:
    assert asked_tasks(question) == state


def test_a_box_says_whether_a_task_is_done() -> None:
    assert [task_state(line) for line in ("- [ ] a", "* [x] a", "1. [X] a", "- a", "[1] a")] == [
        "open", "done", "done", None, None,
    ]  # fmt: skip


def test_open_tasks_are_told_without_those_that_are_done() -> None:
    assert answer("What is still to do for the firmware?", TASKS) == (
        "- [ ] order cables [P0001]\n- [ ] ask Ann about the test [P0001]"
    )
    assert answer("What is already done for the firmware?", TASKS) == "- [x] check the version [P0001]"


def test_the_setting_of_an_object_is_found_by_the_name_of_the_object() -> None:
    leases = (
        "lan.leases[0].name: printer\nlan.leases[0].mac: aa\nlan.leases[0].ip: 10.0.0.1\n"
        "lan.leases[1].name: heatpump\nlan.leases[1].mac: bb\nlan.leases[1].ip: 10.0.0.2\n"
    )
    told = answer("ip of the heat pump", leases)
    assert "10.0.0.2" in told
    assert "10.0.0.1" not in told
    assert "heatpump" in told, "a member of a list says nothing without its name"


def test_a_name_and_its_value_are_one_unit() -> None:
    env = (
        "spec.env[0].name: MAX_ZOOM\nspec.env[0].value: 18\nspec.env[1].name: CACHE_DIR\nspec.env[1].value: /tmp/x\n"
        "spec.replicas: 3\nspec.image: tiles\n"
    )
    told = answer("max zoom", env)
    assert "value: 18" in told
    assert "/tmp/x" not in told


def test_a_comment_on_an_object_is_about_its_members() -> None:
    limits = "api.tiers: # requests per minute\napi.tiers.free: 30\napi.tiers.research: 600\napi.log_level: info\n"
    assert "api.tiers.research: 600" in answer("requests per minute for research", limits)


def test_rows_within_prose_are_told_one_by_one() -> None:
    report = (
        "3 Measurements\n\nThe values are averages.\n\nRoom; CO2; Remark\nRoom: 1A; CO2 maximum: 3,120; Remark: stuck\n"
        "Room: 2B; CO2 maximum: 2,870\nRoom: 4A; CO2 maximum: 2,140\n\nA test of the doors failed in the gym."
    )
    assert answer("max CO2 in room 2B", report) == "- Room: 2B; CO2 maximum: 2,870 [P0001]"


def test_the_cell_in_the_column_that_is_asked_for_decides() -> None:
    rings = (
        "| ring | stations | date | state |\n|---|---|---|---|\n| 2 | old town | 2024-04-16 | done, 3 failed |\n"
        "| 3 | university | 2024-05-07 | planned |\n"
    )
    assert "2024-05-07" in answer("when is ring 3", rings)
    assert "2024-04-16" not in answer("when is ring 3", rings)


def test_messages_of_a_chat_are_entries() -> None:
    chat = "28.03.24, 18:11 - Win: Who has the key?\n28.03.24, 18:14 - Gesa: The key hangs at my place, plot 9\n"
    assert answer("where does the key hang", chat) == (
        "- 28.03.24, 18:14 - Gesa: The key hangs at my place, plot 9 [P0001]"
    )


def test_paragraphs_numbered_within_a_line_are_sentences() -> None:
    text = "(1) Orders are placed in the portal by the ward. (2) Orders by telephone need a written reason."
    assert answer("orders by telephone", text) == "(2) Orders by telephone need a written reason. [P0001]"


def test_the_sentence_behind_the_only_one_explains_it() -> None:
    text = "Fence the old server. It may have accepted writes for six minutes before. Then promote the standby one."
    assert answer("why fence the old server", text).startswith("Fence the old server. [P0001] It may have accepted")
    dated = "The mill was built in 1820 by Ada. It ground oats for the county."
    assert "oats" not in answer("When was the mill built?", dated), "a date answers alone"


def test_an_item_of_several_sentences_is_one_item_and_its_list_stays_whole() -> None:
    text = (
        "Errors found after printing:\n"
        "- p. 17: the ferry times are those of 2024. The first boat is 07:40.\n"
        "- p. 31: a heading is there twice\n"
        "- map: the symbol of the bath is missing\n"
    )
    found = answer("which errors were found after printing", text)
    assert "07:40" in found
    assert "twice" in found
    assert "symbol" in found


def test_items_of_several_sentences_that_nothing_introduces_are_quoted_one_by_one() -> None:
    text = (
        "1. Figures: the year ends well. Costs were low.\n2. Bonus: none this year. It may come back.\n"
        "3. Lease: the rent rises in January. We negotiate first.\n"
    )
    assert answer("what about the bonus", text) == "Bonus: none this year. [P0001] It may come back. [P0001]"


@pytest.mark.parametrize("directive", [".. code-block:: console", ".. code::", ".. sourcecode:: sh\n   :linenos:"])
def test_a_block_of_code_of_restructuredtext_stays_with_the_line_that_introduces_it(directive: str) -> None:
    text = (
        f"Newer\n=====\n\nTo get the newer version, run\n\n{directive}\n\n    $ pip install -U git+x\n\nMore below.\n"
    )
    found = answer("how do I get the newer version", text)
    assert "pip install -U git+x" in found
    assert "::" not in found


def test_a_literal_block_of_restructuredtext_is_code() -> None:
    text = "Start the server like this::\n\n    serve --port 80\n\nIt stops with Ctrl-C.\n"
    assert "serve --port 80" in answer("how do I start the server", text)


def test_settings_below_a_section_with_a_colon_in_its_name_are_settings() -> None:
    text = (
        "threshold:oxygen.warning_below: 5.0\nthreshold:oxygen.critical_below: 3.5\nthreshold:oxygen.hold_minutes: 30\n"
    )
    assert answer("below which oxygen is it critical", text).endswith("threshold:oxygen.critical_below: 3.5 [P0001]")
    assert "hold_minutes" not in answer("below which oxygen is it critical", text)


def test_a_list_is_answered_by_all_its_members() -> None:
    text = "".join(
        f"jobs.matrix.include[{n}].python: 3.{10 + n}\njobs.matrix.include[{n}].os: linux\n" for n in range(3)
    )
    text += "jobs.lint.image: ruff\n"
    found = answer("which pythons are there", text)
    assert all(f"3.{10 + n}" in found for n in range(3))


def test_what_is_turned_off_is_not_enabled() -> None:
    text = "output.mqtt.topic: roof\noutput.mqtt.enabled: false\noutput.file.path: /tmp/x\n"
    assert "output.mqtt.enabled: false" in answer("is mqtt turned off", text)


def test_both_of_two_names_are_told_of() -> None:
    text = (
        "# Quotes\n\n| firm | what | price |\n|---|---|---|\n| De Smet | oak | 8 350 |\n"
        "| Verlinden | laminate | 9 900 |\n| Baert | sockets | 2 140 |\n"
    )
    found = answer("what did De Smet or Verlinden want", text)
    assert "8 350" in found
    assert "9 900" in found
    assert "2 140" not in found


def test_the_name_of_a_setting_and_the_version_of_a_change_stand_above_them() -> None:
    settings = (
        "# Settings\n\n## workers\n\nNumber of parallel uploads, by default 4.\n\n## Notes\n\nUploads take long.\n"
    )
    assert answer("default number of parallel uploads", settings).startswith("- workers [P0001]")
    changes = "## 1.2.2 - 2026-03-01\n\nDropped the support of Python 3.9.\n\n## 1.2.1\n\nNew logo for the site.\n"
    assert answer("which release dropped Python 3.9?", changes).startswith("- 1.2.2 - 2026-03-01 [P0001]")
    assert "1.2.2" not in answer("Why was the support of Python dropped?", changes)


def test_a_list_that_ends_inside_a_block_of_code_closes_it() -> None:
    steps = "To burn the mill:\n\n1. Open the door.\n2. Run it:\n\n```sh\nmill --burn\nmill --year 1911\n"
    told = answer("How do I burn the mill?", steps)
    assert told.count("```") == 2
    assert told.rstrip().endswith("[P0001]")


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        ("[0].name: Ada Byrne\n[0].role: miller\n\n[1].name: Bob Clare\n[1].role: carter\n", "Bob's role", "carter"),
        ("[0].id: N7\n[0].mill.sluice: oak\n\n[1].id: N8\n[1].mill.sluice: elm\n", "sluice of N8", "elm"),
        ("[0][0].wheel: north\n[0][0].paddles: 24\n\n[1][0].wheel: south\n[1][0].paddles: 30\n", "south paddles", "30"),
        ("[0].owner: Ada\n[0].mills[0]: Clare\n[0].mills[1]: Ennis\n\n[1].owner: Bob\n", "mills of Ada", "Ennis"),
    ],
)
def test_a_list_at_the_top_of_a_file_is_settings_like_any_other(text: str, question: str, found: str) -> None:
    told = answer(question, Passage(text, title="mills.json"))
    assert found in told
    assert "`[" in told  # a path in code: its index is no citation


def test_the_members_of_a_list_of_plain_values_at_the_top_of_a_file_stay_together() -> None:
    (unit,) = read_units([Passage("[0]: oats\n[1]: barley\n[2]: rye\n", title="grains.json")])
    assert (unit.kind, unit.quotable) == ("field", True)


def test_a_value_of_a_list_may_have_sentences() -> None:
    note = "The mill burned down in May. Nobody was hurt in it at all."
    for path in ("[0]", "mills[0]", "[0].of[1]"):
        text = f"{path}.note: {note}\n{path}.by: Ada\n{path}.pages: 4\n"
        units = read_units([Passage(text, title="a.json")])
        assert [unit.quote for unit in units] == text.splitlines()


def test_a_long_text_in_a_list_is_quoted_sentence_by_sentence_without_its_index() -> None:
    text = "[0].note: The mill burned down in May. " + "Nobody was hurt in it at all. " * 30 + "\n[0].by: Ada\n"
    assert answer("when did the mill burn", Passage(text, title="a.json")).startswith(
        "note: The mill burned down in May."
    )
