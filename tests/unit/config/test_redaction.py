"""Keys are hidden in whatever form and in whatever pieces they come back, and nothing else is."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.config.redaction import HIDDEN, RedactedText, Redactor, is_placeholder, key_values
from asky.config.schema import Provider, Search, SearchServiceSettings, Settings
from asky.errors import RateLimited

KEY = "sk-Canary/01+23"


@pytest.mark.parametrize(
    "said", [KEY, KEY.upper(), KEY.lower(), quote(KEY), quote(KEY, safe=""), "sk-Canary%2f01%2b23"]
)
def test_a_key_is_hidden_in_every_spelling(said: str) -> None:
    assert Redactor((KEY,)).mask(f"<{said}>{said}") == f"<{HIDDEN}>{HIDDEN}"


def test_a_key_is_hidden_as_json_spells_it() -> None:
    key = 'ab"cd\\efgh'
    assert json.loads(Redactor((key,)).mask(json.dumps({"x": f"a {key} b"}))) == {"x": f"a {HIDDEN} b"}


def test_short_keys_and_none_are_left_alone() -> None:
    assert Redactor((None, "", "sk-1234", " short \n")).mask("sk-1234 short") == "sk-1234 short"


def test_a_key_is_hidden_as_it_is_sent_without_white_space_around_it() -> None:
    assert Redactor((f" {KEY}\n",)).mask(f"a{KEY}b") == f"a{HIDDEN}b"


def test_of_two_keys_that_begin_together_the_longer_one_is_hidden_whole() -> None:
    assert Redactor((KEY, KEY + "-more")).mask(f"{KEY}-more {KEY}") == f"{HIDDEN} {HIDDEN}"


def test_texts_and_names_in_json_are_masked_and_the_rest_is_kept() -> None:
    value = {"a": [KEY, 1, None, True, {"b": f"x{KEY}"}], KEY: 2.5}
    assert Redactor((KEY,)).mask_json(value) == {"a": [HIDDEN, 1, None, True, {"b": f"x{HIDDEN}"}], HIDDEN: 2.5}


def test_an_error_is_cleaned_in_place() -> None:
    error = RateLimited(f"no {KEY}", hint=f"not {KEY}")
    Redactor((KEY,)).clean(error)
    assert (str(error), error.message, error.hint) == (f"no {HIDDEN}", f"no {HIDDEN}", f"not {HIDDEN}")


def test_no_key_is_in_what_is_shown_of_it() -> None:
    assert KEY not in repr(Redactor((KEY,)))


@pytest.mark.parametrize("word", ["lm-studio", "not-needed", "sk-no-key-required", "EMPTY", " dummy key\n", ""])
def test_a_word_that_stands_in_for_a_key_is_none(word: str) -> None:
    assert is_placeholder(word)


@pytest.mark.parametrize("key", ["sk-1", "AIzaSyabcdefghijklmnop", KEY])
def test_keys_with_digits_and_long_ones_are_none(key: str) -> None:
    assert not is_placeholder(key)


def test_the_keys_that_could_be_sent_are_those_that_the_settings_name_and_those_with_usual_names() -> None:
    settings = Settings(
        providers={"lab": Provider(base_url="http://lab/v1", api_key_env="LAB"), "free": Provider(base_url="http://x")},
        search=Search(brave=SearchServiceSettings(api_key_env="SEARCHING")),
    )
    environ = {"LAB": "1", "SEARCHING": "2", "TAVILY_API_KEY": "3", "DB_PASSWORD": "postgres", "HOME": "/home/someone"}
    assert sorted(key_values(settings, environ)) == ["1", "2", "3"]


# in pieces


def in_pieces(redactor: Redactor, pieces: list[str]) -> list[str]:
    text = RedactedText(redactor)
    return [*map(text.feed, pieces), text.end()]


def test_a_key_that_is_cut_anywhere_is_hidden() -> None:
    said = f"Your key is {KEY}, and {KEY}."
    for at in range(len(said) + 1):
        assert "".join(in_pieces(Redactor((KEY,)), [said[:at], said[at:]])) == f"Your key is {HIDDEN}, and {HIDDEN}."


def test_only_what_may_be_the_beginning_of_a_key_is_held_back() -> None:
    pieces = ["The ", "tasks", " s", "k", "-", "Canal", " is", " k"]
    assert in_pieces(Redactor((KEY,)), pieces) == ["The ", "task", "s ", "", "", "sk-Canal", " i", "s k", ""]


# Few letters, so that keys begin within one another, repeat themselves, and are cut in their middle.
SECRETS = st.lists(st.text("ab%", min_size=8, max_size=12), max_size=3)


@given(SECRETS, st.data())
def test_the_pieces_of_a_text_are_masked_as_the_whole_is(secrets: list[str], data: st.DataObject) -> None:
    redactor = Redactor(secrets)
    parts = st.lists(st.one_of(st.text("abAB%2 ", max_size=6), *map(st.sampled_from, [secrets] if secrets else [])))
    whole = "".join(data.draw(parts))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    masked = redactor.mask(whole)
    assert "".join(in_pieces(redactor, pieces)) == masked
    assert "".join(in_pieces(redactor, list(whole))) == masked
    assert not any(secret in part for secret in secrets for part in masked.split(HIDDEN))


@given(SECRETS, st.text("abAB%", max_size=40), st.text("abAB%", max_size=12))
def test_what_is_certain_stays_so_whatever_follows(secrets: list[str], text: str, more: str) -> None:
    redactor = Redactor(secrets)
    certain = redactor.certain_length(text)
    assert redactor.mask(text + more).startswith(redactor.mask(text[:certain]))
    assert certain >= len(text) - max(map(len, secrets), default=1) + 1
