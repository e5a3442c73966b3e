from __future__ import annotations

from dataclasses import dataclass

import pytest

from asky.llm.extractive.units import read_units
from asky.text.terms import terms_of
from asky.values import Location


@dataclass(frozen=True)
class Passage:
    text: str
    key: str = "P0001"
    title: str = "Mills"
    location: Location = Location()  # noqa: RUF009 - a frozen value
    authors: str = ""
    file: str = ""
    linked_from: str = ""
    sections: tuple[tuple[int, str], ...] = ()


def quotable(text: str) -> list[str]:
    return [sentence.quote for sentence in read_units([Passage(text)]) if sentence.quotable]


def test_prose_is_quotable_sentence_by_sentence() -> None:
    text = "The mill burned in 1911. Nobody was hurt, as the\nnight shift had ended."
    assert quotable(text) == ["The mill burned in 1911.", "Nobody was hurt, as the night shift had ended."]
    for sentence in read_units([Passage(text)]):
        assert text[sentence.span.start : sentence.span.end] == sentence.text


@pytest.mark.parametrize("text", ["Total £2,437.00", "Sun 2 Nov 13:50 LIS-BRS 16:35 12A", "It is 2.14 m.", "Serves 6."])
def test_few_words_with_a_number_are_quotable(text: str) -> None:
    assert quotable(f"We have read your letter.\n\n{text}\n\nPlease write again.")[1] == text


@pytest.mark.parametrize(
    "text",
    [
        "# The history of the old mill",
        "History of the mill\n===================",
        "1911\tthe mill burned\tdown to the ground",
        "Burned",
        "[12] Byrne, A. (1911). The fire at the mill. Clare Press.",
        "Byrne, A. The fire at the mill. doi:10.1000/182 is where it is.",
        "See the report at https://example.org/reports/1911/fire",
        "These are the causes of the fire:",
        "For more information, see the report on the fire.",
        "$ mill --burn --year 1911 now",
        "**Why the mill burned down in 1911.**",
        "![a picture of the burning mill](fire.png)",
        "As shown in [P7f3a], the mill burned in 1911.",
        "1911 1912 1913 1914 1915 1916 a b c",
        "mill " * 100 + ".",
        "x" * 5_000 + " burned in the year of 1911.",
    ],
)
def test_what_is_no_prose_is_not_quotable(text: str) -> None:
    assert quotable(text) == []


def test_the_values_of_a_chart_and_cells_parted_by_tabs_are_records() -> None:
    chart = "Chart “Visitors”: 2024 = 9120; 2025 = 10480"
    text = f"Contents\nMills\t7\n\nThe mill in short.\n\n{chart}\n\nMiller\tAda Byrne\nClerk\tJonas Vik\n\n1.\tOpen"
    records = [unit.quote for unit in read_units([Passage(text)]) if unit.quotable and unit.kind == "row"]
    assert records == [chart, "Miller Ada Byrne", "Clerk Jonas Vik"]


def test_the_title_repeated_is_not_quotable() -> None:
    passage = Passage("The old mill at Clare. The old mill at Clare burned.", title="The old mill at Clare")
    assert [s.quote for s in read_units([passage]) if s.quotable] == ["The old mill at Clare burned."]


def kinds(text: str, title: str = "Mills") -> list[tuple[str, str]]:
    return [(unit.kind, unit.quote) for unit in read_units([Passage(text, title=title)]) if unit.quotable]


def test_code_that_a_sentence_introduces_keeps_its_links_and_marks() -> None:
    text = "To embed a **list**, write:\n\n```md\n- item\n\n^my-list\n![[My note#^my-list]]\n```\n"
    ((kind, quote),) = kinds(text)
    assert kind == "list"
    assert quote == "To embed a list, write:\n```md\n- item\n\n^my-list\n![[My note#^my-list]]\n```"


def test_fenced_code_is_a_unit_of_its_own_and_keeps_its_lines() -> None:
    text = "The mill burned in 1911.\n\n```sh\nmill --burn\nmill --year 1911\n```\n\nIt was rebuilt the year after."
    assert kinds(text) == [
        ("sentence", "The mill burned in 1911."),
        ("code", "mill --burn\nmill --year 1911"),
        ("sentence", "It was rebuilt the year after."),
    ]


def test_a_sentence_that_ends_in_a_colon_is_one_unit_with_what_it_introduces() -> None:
    text = (
        "The causes were these:\n\n- a spark from the grindstone\n- dry **flour** dust\n\nNobody was hurt in the fire."
    )
    assert kinds(text) == [
        ("list", "The causes were these:\n- a spark from the grindstone\n- dry flour dust"),
        ("sentence", "Nobody was hurt in the fire."),
    ]
    assert kinds("To start the mill, run:\n\n```\nmill start\n```") == [
        ("list", "To start the mill, run:\n```\nmill start\n```")
    ]


def test_a_numbered_procedure_keeps_its_order() -> None:
    (unit,) = kinds("1. Open the sluice.\n2. Release the brake.\n3. Pour in the grain.")
    assert unit == ("list", "1. Open the sluice.\n2. Release the brake.\n3. Pour in the grain.")


def test_sentences_with_bullets_that_nothing_introduces_stand_alone() -> None:
    text = "## Meeting\n\n- The plumber comes on 22 April.\n- Jo wants a drawer for bread tins."
    assert kinds(text) == [
        ("item", "The plumber comes on 22 April."),
        ("item", "Jo wants a drawer for bread tins."),
    ]


def test_a_long_list_is_quoted_item_by_item_with_its_lead_in_as_context() -> None:
    items = "\n".join(f"- Wheel {n} of the mill has {n} paddles made of old oak." for n in range(40))
    units = [unit for unit in read_units([Passage(f"The wheels are:\n\n{items}")]) if unit.quotable]
    assert [unit.kind for unit in units] == ["item"] * 40
    assert units[3].quote == "Wheel 3 of the mill has 3 paddles made of old oak."
    assert "wheel" in units[3].terms | units[3].context


def test_a_table_row_is_found_by_the_head_of_its_table() -> None:
    text = "| Mill | Built |\n| --- | --- |\n| Clare | 1820 |\n| Ennis | 1790 |"
    units = [unit for unit in read_units([Passage(text)]) if unit.quotable]
    assert [unit.text for unit in units] == ["| Clare | 1820 |", "| Ennis | 1790 |"]
    assert "built" in units[0].context


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "| | 2023 | 2022 |\n|---|--:|--:|\n| *Cost* of sales | $624 | $640 |\n| Tax | | $12 |",
            ["Cost of sales; 2023: $624; 2022: $640", "Tax; 2022: $12"],
        ),
        (
            "Mill | Built\n--- | ---\nClare | 1820\nEnnis | 1790",
            ["Mill: Clare; Built: 1820", "Mill: Ennis; Built: 1790"],
        ),
        (
            "| Mill | Story |\n|---|---|\n| Clare | It burned. It was rebuilt. |\n| Ennis | Lost. |",
            ["Mill: Clare; Story: It burned. It was rebuilt.", "Mill: Ennis; Story: Lost."],
        ),
        (
            "+---+---+\n| Mill | Built |\n+===+===+\n| Clare | 1820 |\n+---+---+\n| Ennis | 1790 |",
            ["Mill: Clare; Built: 1820", "Mill: Ennis; Built: 1790"],
        ),
        ("| Mill | Wheel |\n|:-:|:-:|\n| a \\| b | over\\|under |", ["Mill: a | b; Wheel: over|under"]),
        ("|---|---|\n| Clare | 1820 |", ["| Clare | 1820 |"]),
    ],
)
def test_a_row_is_quoted_with_the_names_of_its_columns_and_the_head_never(table: str, rows: list[str]) -> None:
    units = read_units([Passage(f"Mills of the county are rare.\n\n{table}\n\nMost of them ground oats.")])
    assert [unit.quote for unit in units if unit.quotable] == [
        "Mills of the county are rare.",
        *rows,
        "Most of them ground oats.",
    ]


def test_a_table_that_a_sentence_introduces_is_quoted_with_its_columns_and_the_next_table_is_not_of_it() -> None:
    head = "| Mill | Built |\n|---|---|\n"
    text = f"The mills are as follows:\n\n{head}| Clare | 1820 |\n| Ennis | 1790 |\n\n{head}| Ruan | 1650 |"
    assert kinds(text) == [
        ("list", "The mills are as follows:\n- Mill: Clare; Built: 1820\n- Mill: Ennis; Built: 1790"),
        ("table", "Mill: Ruan; Built: 1650"),
    ]


def test_a_lone_numbered_line_is_the_heading_of_the_sentences_below_it() -> None:
    units = read_units([Passage("2. New shed\n\nThree quotes for the work were received.")])
    assert [(unit.kind, unit.quotable) for unit in units] == [("heading", False), ("sentence", True)]
    assert units[1].heading == "New shed"
    assert "shed" in units[1].context


def test_front_matter_is_properties_and_no_prose() -> None:
    text = "---\nrating: 7\ntags:\n- mill\n- oat\n---\n\nThe mill burned down in 1911."
    assert kinds(text) == [
        ("property", "rating: 7"),
        ("property", "tags:\n- mill\n- oat"),
        ("sentence", "The mill burned down in 1911."),
    ]


def test_properties_alone_are_properties_too() -> None:
    text = "---\nstatus: waiting\nstarted: 2025-02-10\nbudget: 14500\naliases: [new kitchen]\n---"
    assert {kind for kind, _ in kinds(text)} == {"property"}


def test_a_row_below_the_name_and_the_head_of_its_table_is_a_row_and_so_is_one_with_a_remark_in_sentences() -> None:
    rows = [
        f"Berth: A{n}; Boat: Skua {n}; Remark: Moved in May of last year. Paid in cash to the clerk." for n in (1, 2)
    ]
    found = kinds("\n".join(["Berths", "Berth; Boat; Remark", *rows]))
    assert [quote for kind, quote in found if kind == "row"] == ["Berths", *rows]


def test_the_names_of_columns_are_no_row() -> None:
    rows = "Name of the boat: Skua; Length of the boat in metres: 7; Price: 320\nName of the boat: Tern; Price: 90"
    head = "Name of the boat; Length of the boat in metres; Price"
    assert head not in quotable(f"{head}\n{rows}")
    said = "The boats lie in the harbour from May on. They are sold in autumn, when nobody sails. " * 2
    assert head not in quotable(f"{said}\n\n{head}\n{rows}\n\n{said}")
    assert len([each for each in quotable(f"{said}\n\n{head}\n{rows}") if each.startswith("Name")]) == 2


def test_settings_are_units_under_their_paths_and_lists_stay_together() -> None:
    text = "database.host: db.local\ndatabase.port: 5432\nadmins[0]: ada@x.test\nadmins[1]: bob@x.test\nmax_retries: 4"
    assert kinds(text) == [
        ("field", "database.host: db.local"),
        ("field", "database.port: 5432"),
        ("field", "admins[0]: ada@x.test\nadmins[1]: bob@x.test"),
        ("field", "max_retries: 4"),
    ]
    units = read_units([Passage("http.requestTimeout: 45\nhttp.max_body: 9")])
    assert {"request", "timeout"} <= units[0].terms


def test_settings_are_found_by_those_beside_them() -> None:
    text = "services.db.image: postgres\nservices.db.ports[0]: 5432:5432\nservices.web.ports[0]: 80:80\nname: mill"
    by_path = {unit.text.split(":")[0]: unit.context for unit in read_units([Passage(text, title="compose.yaml")])}
    assert terms_of("postgres") <= by_path["services.db.ports[0]"]
    assert not terms_of("postgres") & by_path["services.web.ports[0]"]
    assert not terms_of("postgres") & by_path["name"]


def test_rows_and_log_entries_are_a_unit_each_and_dates_have_their_month() -> None:
    rows = "month: 2024-03; region: West; units: 56\nmonth: 2024-04; region: West; units: 91"
    units = read_units([Passage(rows)])
    assert [unit.kind for unit in units] == ["row", "row"]
    assert "march" in units[0].terms
    log = "2024-03-01 10:00:00 ERROR disk full\n  at writer\n2024-03-01 10:00:01 INFO retry"
    assert [unit.quote for unit in read_units([Passage(log)])] == [
        "2024-03-01 10:00:00 ERROR disk full\nat writer",
        "2024-03-01 10:00:01 INFO retry",
    ]


def test_code_is_quoted_in_blocks_and_found_by_the_parts_of_its_names() -> None:
    text = "FIRST_DELAY = 0.75  # seconds\n\n\ndef delayBefore(attempt):\n    return FIRST_DELAY * attempt"
    units = read_units([Passage(text, title="retry.py")])
    assert [unit.kind for unit in units] == ["code", "code"]
    assert units[1].quote == "def delayBefore(attempt):\n    return FIRST_DELAY * attempt"
    assert {"delay", "attempt"} <= units[1].terms


def test_markup_is_shown_as_text() -> None:
    assert quotable("The [[Old mill|mill]] at **Clare** was [built](https://x.test) in 1820.") == [
        "The mill at Clare was built in 1820."
    ]


def test_reference_numbers_of_the_source_are_not_shown() -> None:
    assert quotable("The mill [a water mill] burned[3] in 1911 [4, 5].") == ["The mill [a water mill] burned in 1911."]


def test_a_sentence_that_an_earlier_passage_holds_comes_once() -> None:
    text = "The mill burned in 1911. It was rebuilt the year after."
    sentences = read_units([Passage(text), Passage("It was  rebuilt the year after. Then it was sold again.")])
    assert [(s.passage, s.quote) for s in sentences] == [
        (0, "The mill burned in 1911."),
        (0, "It was rebuilt the year after."),
        (1, "Then it was sold again."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "工場は1911年に火事で焼けた。",
        "Мельница сгорела в 1911 году.",
        "चक्की 1911 में जल गई थी।",
        "المطحنة احترقت في عام 1911.",
    ],
)
def test_prose_of_any_script_is_quotable(text: str) -> None:
    assert quotable(text) == [text]


@pytest.mark.parametrize(
    ("text", "code", "prose"),
    [
        ("mill --burn\n```\nIt burned in the end.\n```sh\nmill --year\n```\n", ["mill --burn", "mill --year"], 1),
        ("mill --burn\n```\nIt burned in the end.\n", ["mill --burn"], 1),
        ("It is burned like this:\n```\nmill --burn\n", ["It is burned like this:\n```\nmill --burn"], 0),
        ("```sh\nmill --burn\n```\nIt burned in the end.\n```\nmill\n", ["mill --burn", "mill"], 1),
    ],
)
def test_a_passage_may_begin_and_end_inside_a_block_of_code(text: str, code: list[str], prose: int) -> None:
    found = kinds(text)
    assert [quote for kind, quote in found if kind in ("code", "list")] == code
    assert [quote for kind, quote in found if kind == "sentence"] == ["It burned in the end."] * prose


def test_a_question_in_bold_is_the_heading_of_its_answer() -> None:
    text = (
        "**I lost my key. What now?**\nAsk the miller for the spare one.\n\n**Can I come in?**\nYes, on every Sunday."
    )
    units = [unit for unit in read_units([Passage(text)]) if unit.quotable]
    assert [(unit.heading, unit.quote) for unit in units] == [
        ("I lost my key. What now?", "Ask the miller for the spare one."),
        ("Can I come in?", "Yes, on every Sunday."),
    ]


def test_the_heading_of_the_section_repeated_at_its_start_is_not_quotable() -> None:
    section = Location("Money > What the millers say")
    passage = Passage("What the millers say\n\nThe millers say that oats are cheap.", location=section)
    assert [unit.quote for unit in read_units([passage]) if unit.quotable] == ["The millers say that oats are cheap."]


def test_a_mail_is_found_by_who_wrote_it_and_by_its_subject() -> None:
    text = (
        "From: Ada Byrne <ada@mill.example>\nTo: Jo\nDate: Wed, 10 Apr 2024\nSubject: Re: Holidays\n\nI am away in May."
    )
    head, body = read_units([Passage(text, title="inbox.mbox")])
    assert head.kind == "entry"
    assert head.quote.startswith("From: Ada Byrne")
    assert (body.quote, body.context & terms_of("Ada Byrne holidays")) == (
        "I am away in May.",
        terms_of("Ada Byrne holidays"),
    )


def test_a_single_line_of_a_log_is_an_entry_and_a_failure_is_found_by_what_people_call_it() -> None:
    line = "2024-05-21 03:56:07 {} [stock] supplier Byrne: HTTP 401"
    (error,) = read_units([Passage(line.format("ERROR"), title="web.log")])
    (note,) = read_units([Passage(line.format("INFO"), title="web.log")])
    assert (error.kind, note.kind) == ("entry", "entry")
    assert terms_of("went wrong") <= error.context
    assert not terms_of("went wrong") & note.context


@pytest.mark.parametrize("section", ["References", "A title › 7. REFERENCES", "Bibliography", "Literature cited"])
def test_entries_of_a_bibliography_are_not_quotable(section: str) -> None:
    text = "A. Byrne (1911), The burning of wooden mills. B. Clare (1912), How mills are built again."
    paged = Passage(text, location=Location(section, 12))
    assert [unit.quote for unit in read_units([paged]) if unit.quotable] == []
    for other in (Location("Mills › References to fire", 12), Location("References")):
        assert [unit for unit in read_units([Passage(text, location=other)]) if unit.quotable]


GARDEN = (
    "Goals\n\n- Grow beans for winter\n- Attract bees\n\n{}\n\n- Slugs after rain\n- Frost\n\nWater at night, please."
)


def garden(heading: str) -> Passage:
    """A passage of a document whose headings have no marks, in two sections."""
    text = GARDEN.format(heading)
    path = f"Garden › {heading.strip('# ')}"
    return Passage(text, location=Location("Garden › Goals"), sections=((text.index(heading), path),))


@pytest.mark.parametrize("heading", ["Risks", "## Risks", "2. Risks", "Risks of a wet and cold summer for us all"])
def test_a_list_ends_with_its_section_and_its_words_are_not_those_of_the_section_before(heading: str) -> None:
    goals, risks, note = (unit for unit in read_units([garden(heading)]) if unit.quotable)
    assert (goals.kind, goals.heading, goals.section) == ("list", "Goals", "Garden › Goals")
    assert (risks.kind, risks.quote) == ("list", "- Slugs after rain\n- Frost")
    assert (note.quote, note.heading) == ("Water at night, please.", risks.heading)
    for unit in (risks, note):
        assert unit.section.startswith("Garden › ")
        assert terms_of("garden risks") <= unit.context
        assert not terms_of("goals") & unit.context
    assert terms_of("garden goals") <= goals.context


def test_a_section_that_begins_without_its_heading_ends_the_one_before() -> None:
    text = "- Grow beans\n- Attract bees\n- Slugs\n- Frost"
    passage = Passage(text, location=Location("Goals"), sections=((text.index("- Slugs"), "Risks"),))
    goals, risks = read_units([passage])
    assert [goals.quote, risks.quote] == ["- Grow beans\n- Attract bees", "- Slugs\n- Frost"]
    assert (goals.section, risks.section, risks.heading) == ("Goals", "Risks", "Risks")


def test_a_unit_below_several_headings_is_found_by_all_of_them() -> None:
    text = "Soup\n\nIt serves four people.\n\nHow to store it\n\nIn a cold place, for two days."
    passage = Passage(text, location=Location("Soup"), sections=((text.index("How"), "Soup › How to store it"),))
    _, stored = (unit for unit in read_units([passage]) if unit.quotable)
    assert terms_of("soup store") <= stored.context
    assert stored.heading == "How to store it"


def test_what_two_sections_of_a_source_say_alike_is_a_unit_of_each() -> None:
    text = "Soup\n\nIt serves four people.\n\nStew\n\nIt serves four people."
    passage = Passage(text, location=Location("Soup"), sections=((text.index("Stew"), "Stew"),))
    again = Passage(text[text.index("Stew") :], location=Location("Stew"))
    other = Passage("It serves four people.", title="Pans")
    units = [unit for unit in read_units([passage, again, other]) if unit.quotable]
    assert [(unit.passage, unit.section) for unit in units] == [(0, "Soup"), (0, "Stew")]


def test_a_line_that_begins_like_the_heading_is_a_sentence() -> None:
    passage = Passage("The mill burned in 1911 after a storm.", location=Location("The mill"))
    assert [(unit.quote, unit.quotable) for unit in read_units([passage])] == [
        ("The mill burned in 1911 after a storm.", True)
    ]


def test_rows_whose_head_was_cut_off_have_the_names_of_their_columns() -> None:
    passage = Passage("Clare | 1820\nSouth\nEnnis | 1790\n\nMills are old.", location=Location(columns="Mill | Built"))
    rows = [unit for unit in read_units([passage]) if unit.kind == "table"]
    assert [row.quote for row in rows] == ["Mill: Clare; Built: 1820", "Mill: Ennis; Built: 1790"]
    assert "south" in rows[1].context
    assert "south" not in rows[0].context


def test_sentences_among_code_without_a_fence_are_no_code() -> None:
    text = (
        "#!/usr/bin/env python\n\nimport sluice\n\ndef main():\n    gate = sluice.open(4)\n\n    gate.shut()\n\n"
        "main()\n\n"
        "Does that look good?\n\nStart with the tour of the east gate!\n\nHere is how a gate is shut at night:\n\n"
        "gate = sluice.open(4)\ngate.shut()"
    )
    assert kinds(text, "sluice.rtf") == [
        ("code", "#!/usr/bin/env python"),
        ("code", "import sluice"),
        ("code", "def main():\n    gate = sluice.open(4)"),
        ("code", "    gate.shut()"),
        ("code", "main()"),
        ("sentence", "Does that look good?"),
        ("sentence", "Start with the tour of the east gate!"),
        ("code", "gate = sluice.open(4)\ngate.shut()"),
    ]
    assert {kind for kind, _ in kinds(text, "sluice.py")} == {"code"}


def test_an_entry_of_bibtex_is_one_unit() -> None:
    entry = '@inproceedings{vane-2021,\n  title = {{Sluice: A Tool}},\n  author = "Vane, Ruth",\n  year = 2021,\n}'
    assert kinds(entry, "sluice.rtf") == [("code", entry)]
    assert kinds(f"Citing Sluice\n\nHere is how to cite it:\n\n{entry}", "sluice.docx") == [("code", entry)]
    entries = "\n\n".join(f"@book{{holm-{year},\n  title = {{Ropes}},\n  year = {year}\n}}" for year in (1990, 1991))
    assert kinds(entries, "gates.bib") == [("code", each) for each in entries.split("\n\n")]
