"""The field of a question decides which services are asked, and what cannot be asked is named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from asky.agent.domains import (
    DomainConfiguration,
    available_sources,
    choose_domain,
    domains_of,
    find_domain,
)
from asky.agent.models import PRIVACY_MODES
from asky.config.loader import Config, load_config
from asky.config.schema import Privacy
from asky.errors import ConfigError, UsageError
from asky.search.catalog import ROWS

BUILT_IN = domains_of({})


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What are the latest treatments for diabetes?", "medical"),
        ("Which companies compete in the market for robots?", "competitive_intelligence"),
        ("Is there a peer-reviewed study on sleep?", "academic"),
        ("What do the Directives on packaging require?", "regulatory"),
        ("Why is the sky blue?", "general"),
        ("", "general"),
        ("A clinical study of patients", "medical"),  # more of its keywords
        ("Laws on treatment", "medical"),  # as many, and the first
    ],
)
def test_a_question_belongs_to_the_field_whose_keywords_it_has(query: str, name: str) -> None:
    assert choose_domain(query, BUILT_IN).domain == name


def test_the_fields_of_the_requirements_are_as_they_say() -> None:
    medical, companies = BUILT_IN["medical"], BUILT_IN["competitive_intelligence"]
    assert (medical.primary_sources, medical.secondary_sources) == (
        ("pubmed", "semantic_scholar"),
        ("arxiv", "google_scholar"),
    )
    assert (medical.academic_required, medical.verification_threshold) == (True, 0.8)
    assert medical.excluded_sources == ("wikipedia",)
    assert (companies.primary_sources, companies.secondary_sources) == (
        ("tavily", "exa", "brave"),
        ("news_api", "crunchbase"),
    )
    assert (companies.academic_required, companies.verification_threshold) == (False, 0.6)
    assert len(fields(DomainConfiguration)) == 7


def test_every_primary_source_of_a_built_in_field_can_be_set_up() -> None:
    for each in BUILT_IN.values():
        assert set(each.primary_sources) <= set(ROWS)


def test_sources_that_cannot_be_asked_are_named_with_the_reason() -> None:
    medical = available_sources(BUILT_IN["medical"], ("brave", "pubmed"))
    assert medical.available == ("pubmed",)
    assert dict(medical.unavailable) == {
        "semantic_scholar": "not set up: it needs no key, but a place in search.providers",
        "arxiv": "not set up: it needs no key, but a place in search.providers",
        "google_scholar": "asky has no such search service",
    }
    companies = dict(available_sources(BUILT_IN["competitive_intelligence"], ()).unavailable)
    assert companies["news_api"] == companies["crunchbase"] == "asky has no such search service"
    assert companies["brave"] == "not set up: it needs a key in the variable BRAVE_API_KEY"
    general = dict(available_sources(BUILT_IN["general"], ()).unavailable)
    assert general["searxng"] == "not set up: it needs an address in search.searxng.base_url"


def test_a_field_without_a_source_of_its_own_is_searched_with_the_others() -> None:
    assert available_sources(BUILT_IN["medical"], ("searxng", "wikipedia")).available == ("searxng",)
    assert available_sources(BUILT_IN["medical"], ()).available == ()


def test_excluded_sources_are_neither_asked_nor_read() -> None:
    field = DomainConfiguration("x", ("wikipedia", "brave"), excluded_sources=("wikipedia", "*.Example.org", "odd one"))
    assert field.sources == ("brave",)
    assert field.denied_domains == ("wikipedia.org", "example.org")


CONFIGURED = """
[agent.domains.energy]
primary_sources = ["openalex"]
keywords = ["power grid"]
[agent.domains.medical]
primary_sources = ["pubmed"]
verification_threshold = 0.9
"""


def configured(home: Path, text: str) -> Config:
    (home / "config").mkdir()
    (home / "config" / "research.toml").write_text(text, encoding="utf-8")
    return load_config(environ={"ASKY_HOME": str(home)}, cwd=home)


def test_the_user_adds_fields_and_replaces_built_in_ones(tmp_path: Path) -> None:
    found = domains_of(configured(tmp_path, CONFIGURED).agent.domains)
    assert list(found) == [*BUILT_IN, "energy"]
    assert found["medical"] == DomainConfiguration("medical", ("pubmed",), verification_threshold=0.9)
    assert choose_domain("How stable are power grids?", found).domain == "energy"
    assert choose_domain("How much power has the president?", found).domain == "general"


def test_waits_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"min_wait_s"):
        configured(tmp_path, "[agent.obstacles]\nmin_wait_s = 61.0\n")


def test_an_unknown_field_is_refused_with_the_known_ones() -> None:
    assert find_domain("medical", BUILT_IN) is BUILT_IN["medical"]
    with pytest.raises(UsageError, match="medcal") as refused:
        find_domain("medcal", BUILT_IN)
    assert "medical" in str(refused.value.hint)


def test_the_configuration_knows_the_privacy_modes() -> None:
    assert get_args(Privacy) == PRIVACY_MODES
