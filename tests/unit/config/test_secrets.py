from __future__ import annotations

import pytest

from asky.config.secrets import names_secret, scrub


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "api_key", "key", "GH_TOKEN", "client_secret", "PASSWORD", "db_passwd"]
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", ["max_tokens", "passage_tokens", "KEYBOARD", "monkey", "HOME", "tokenizer"])
def test_other_names_are_not_secret(name: str) -> None:
    assert not names_secret(name)


def test_the_values_of_secret_variables_are_masked_the_longer_first() -> None:
    environ = {"A_KEY": "abcdefgh", "B_TOKEN": "abcdefghij", "C_KEY": "short", "HOME": "/home/someone"}
    assert scrub("abcdefghij, abcdefgh, short, /home/someone", environ) == "***, ***, short, /home/someone"


def test_credentials_inside_of_addresses_are_masked() -> None:
    assert scrub("GET https://me:pw@host/p?q=a@b and ftp://u@h", {}) == "GET https://***@host/p?q=a@b and ftp://***@h"


def test_the_values_of_variables_that_are_said_to_hold_keys_are_masked_as_they_are_sent() -> None:
    environ = {"LAB": " abcdefgh\n", "LAP": "ijklmnop", "LAC": "short"}
    assert scrub("abcdefgh, ijklmnop, short", environ, {"LAB", "LAC", "GONE"}) == "***, ijklmnop, short"
