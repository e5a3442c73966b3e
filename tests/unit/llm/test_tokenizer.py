from __future__ import annotations

import json
from pathlib import Path

import pytest

from asky.errors import ConfigError
from asky.llm.port import Message, ModelUsage
from asky.llm.tokenizer import load_tokenizer
from asky.llm.tokens import TokenCounter

TIDES = "The moon raises tides"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A tokenizer that has one token for each word."""
    words = ["[UNK]", *TIDES.split()]
    file = tmp_path / "tokenizer.json"
    definition = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: id_ for id_, word in enumerate(words)}, "unk_token": "[UNK]"},
    }
    file.write_text(json.dumps(definition), "utf-8")
    return file


def test_a_text_is_counted_whole_by_the_models_own_tokenizer(path: Path) -> None:
    count = load_tokenizer(path)
    assert [count(text) for text in (TIDES, "", f"{TIDES} {TIDES}", "\ud800 tides")] == [4, 0, 8, 2]


def test_a_counter_with_a_tokenizer_counts_closer_than_one_without(path: Path) -> None:
    messages = [Message("user", "moonlights " * 100)]
    exact = TokenCounter(load_tokenizer(path))
    assert 100 <= exact.count(messages, ()) < 130 < TokenCounter().count(messages, ())
    assert 100 <= exact.count_message(messages[0]) < 130
    exact.learn(messages, (), ModelUsage(200))
    assert exact.count(messages, ()) >= 200


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff\xfe", b"not JSON"])
def test_a_file_that_is_no_tokenizer_is_said_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"bad\.json is not a tokenizer") as caught:
        load_tokenizer(file)
    assert "\n" not in caught.value.message


def test_a_tokenizer_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the tokenizer"):
        load_tokenizer(tmp_path / "none.json")
