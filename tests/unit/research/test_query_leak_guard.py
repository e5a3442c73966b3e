"""The guard of a model's search queries, beside private passages."""

from __future__ import annotations

import pytest

from asky.errors import SourceRefused
from asky.research.web.query_leak_guard import QueryLeakGuard

PRIVATE = ["Orla Quillon will move her laboratory to the old harbour warehouse before winter begins next year."]
FIRST_HALF, SECOND_HALF = "Orla Quillon will move her laboratory to the", "old harbour warehouse before winter begins"


def test_an_approved_query_is_remembered_as_the_first_half_of_a_quotation() -> None:
    guard = QueryLeakGuard([])
    with pytest.raises(SourceRefused, match="may reveal"):
        guard.require([FIRST_HALF], "", PRIVATE, [])
    guard.approve([FIRST_HALF])
    with pytest.raises(SourceRefused, match="repeats a private document"):
        guard.require([SECOND_HALF], "", PRIVATE, [])


def test_a_quotation_that_was_approved_does_not_keep_other_queries_from_being_sent() -> None:
    sent: list[str] = []
    guard = QueryLeakGuard(sent)
    guard.approve([f"{FIRST_HALF} {SECOND_HALF}"])
    guard.require(["tides of the north sea", f"{FIRST_HALF} {SECOND_HALF}"], "", PRIVATE, [])
    assert sent[1] == "tides of the north sea"


NAMES = ["Orla Quillon met Ann Lee in Kübelbrook and at the Hughes farm; the tides were low."]


@pytest.mark.parametrize(
    "query",
    [
        "who is quillon",
        "who is Quíllon",
        "who is Quillоn",  # Cyrillic o
        "who is 𝗤𝘂𝗶𝗹𝗹𝗼𝗻",
        "all quillons",
        "the hugh farm",
        "map of kubelbrook",
        "map of Kübelbrooks",
        "orlaquillon",
        "xquillonx",
        "annlee",
        "quil lon harbour",
        "map of kübel-brook",
        "küb el bro ok",
        "farm of hu ghes",
    ],
)
def test_a_name_is_recognised_in_another_spelling(query: str) -> None:
    with pytest.raises(SourceRefused, match="may reveal"):
        QueryLeakGuard([]).require([query], "", NAMES, [])


@pytest.mark.parametrize(
    "query", ["low tides of the north sea", "annual leeway of a farm", "hug a tree", "café culture", "in a day at sea"]
)
def test_words_that_only_resemble_a_name_are_sent(query: str) -> None:
    QueryLeakGuard([]).require([query], "", [*NAMES, "Ina and Sea were there."], ["the sea"])


def test_a_name_of_the_user_is_sent_in_every_spelling() -> None:
    guard = QueryLeakGuard([])
    with pytest.raises(SourceRefused, match="leefarm"):
        guard.require(["map of leefarm"], "farm map", NAMES, [])
    guard.require(
        ["map of kubelbrooks", "Hugh farm of quil lon"], "Who lives in Kubelbrook, Hughes, quillon?", NAMES, []
    )


def test_a_quotation_is_recognised_under_accents() -> None:
    accented = "will move her láboratory to the old harbour wärehouse before winter"
    with pytest.raises(SourceRefused, match="repeats a private document"):
        QueryLeakGuard([]).require([accented], "Orla", PRIVATE, [])


@pytest.mark.parametrize("query", ["merger plan acme", "the mérger-plan ACME of a firm", "salaries 2024 tax"])
def test_the_name_of_a_private_file_is_not_sent(query: str) -> None:
    files = ["Merger_plan ACME.docx", "salaries-2024.pdf", "tides.md"]
    guard = QueryLeakGuard([])
    with pytest.raises(SourceRefused, match="may reveal"):
        guard.require([query], "", [], [], files)
    guard.require(["merger of a plan", "salaries in tides"], "", [], [], files)
    guard.require([query], "the merger plan of ACME, a firm: its tax on salaries of 2024", [], [], files)
