from __future__ import annotations

from pathlib import Path

import pytest

from asky.config.changing import set_value
from asky.config.documents import parse_toml
from asky.config.loader import load_config
from asky.errors import ConfigError, NotConfigured


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "ASKY_HOME": str(tmp_path / "asky")}


def test_a_value_is_set_in_the_file_that_owns_its_key(environ: dict[str, str], tmp_path: Path) -> None:
    file = set_value("research.max_turns", "12", environ=environ, cwd=tmp_path)
    assert file == tmp_path / "asky" / "config" / "research.toml"
    set_value("research.local_document_roots", '["docs", "~/b"]', environ=environ, cwd=tmp_path / "here")
    models = set_value('models."gpt-4.1".provider', "extractive", environ=environ, cwd=tmp_path)
    assert models.name == "models.toml"
    set_value("default", "gpt-4.1", environ=environ, cwd=tmp_path)
    config = load_config(environ=environ, cwd=tmp_path)
    assert config.research.max_turns == 12
    assert config.research.local_document_roots == (tmp_path / "here" / "docs", tmp_path / "b")
    assert config.model().name == "gpt-4.1"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("research.cache_ttl_hours", "3", "unknown key", "did you mean research.cache.ttl_hours?"),
        ("search.searxng_base_url", "x", "unknown key", "did you mean search.searxng.base_url?"),
        ("research.ttl_hours", "3", "unknown key", "did you mean research.cache.ttl_hours?"),
        ("embedding_model", "x", "unknown key", "did you mean research.embedding.model?"),
        ("search.ddgs.base_url", "https://x.example", "unknown key search.ddgs.base_url", "see: asky config show"),
        ("search.ddgs.api_key_env", "KEY", "unknown key search.ddgs.api_key_env", "see: asky config show"),
        ("research.max_turn", "1", "unknown key research.max_turn", "did you mean research.max_turns?"),
        ("research.max_turns", "x", "research.max_turns: expected a whole number", None),
        ("research.max_turns", "1__0", "research.max_turns: expected a whole number", None),
        ("research.embedding", "x", "research.embedding is a table", "see: asky config show"),
        ("ui.color", "nevr", "ui.color: expected one of", "did you mean never?"),
        ("research.chunking.overlap_tokens", "500", "must be at most half of research.chunking.max_tokens", None),
        ("research.source_adapters.w.prefix", "w://", "give either tool", None),
        ("budget.max_tokens", "-1", "budget.max_tokens: expected a whole number", None),
        ("providers.openai.base_url", "openai", "must be a web address", None),
        ("models.mine.provider", "ollama", "models.mine: the key id is missing", None),
        ("a b = 1\n[x]", "1", "unknown key", None),
        ("", "1", "unknown key", None),
    ],
)
def test_what_would_not_be_valid_is_not_written(
    environ: dict[str, str], tmp_path: Path, key: str, value: str, message: str, hint: str | None
) -> None:
    with pytest.raises(ConfigError) as caught:
        set_value(key, value, environ=environ, cwd=tmp_path)
    assert message in str(caught.value)
    assert hint is None or hint == caught.value.hint
    assert not (tmp_path / "asky" / "config" / "research.toml").exists()


@pytest.mark.parametrize("name", ["gpt", "openia:gpt", "openai:"])
def test_a_default_that_no_model_has_is_not_written(environ: dict[str, str], tmp_path: Path, name: str) -> None:
    with pytest.raises(NotConfigured):
        set_value("default", name, environ=environ, cwd=tmp_path)
    assert not (tmp_path / "asky" / "config" / "models.toml").exists()


def test_a_default_can_be_a_model_of_a_provider_without_an_entry_of_its_own(
    environ: dict[str, str], tmp_path: Path
) -> None:
    set_value("default", "ollama:qwen3:8b", environ=environ, cwd=tmp_path)
    assert load_config(environ=environ, cwd=tmp_path).model().model.id == "qwen3:8b"


def test_a_table_of_parameters_is_set_and_replaced(environ: dict[str, str], tmp_path: Path) -> None:
    key = "providers.vllm.parameters"
    for text, value in (
        ('{"temperature": 0.5, "stop": ["a", "b"]}', {"temperature": 0.5, "stop": ["a", "b"]}),
        ('{top_p = 1, "odd name" = {x = true}}', {"top_p": 1, "odd name": {"x": True}}),
        ("{}", {}),
    ):
        set_value(key, text, environ=environ, cwd=tmp_path)
        assert load_config(environ=environ, cwd=tmp_path).providers["vllm"].parameters == value


def test_a_file_that_is_already_wrong_is_reported_and_kept(environ: dict[str, str], tmp_path: Path) -> None:
    file = set_value("research.max_turns", "12", environ=environ, cwd=tmp_path)
    file.write_text("[research\n")
    with pytest.raises(ConfigError, match=r"research\.toml:1:10: not valid TOML"):
        set_value("research.max_turns", "13", environ=environ, cwd=tmp_path)
    assert file.read_text() == "[research\n"


def test_an_alias_is_made_with_one_value_and_its_keys_are_set_then(environ: dict[str, str], tmp_path: Path) -> None:
    file = set_value("models.work", "openai:gpt-x", environ=environ, cwd=tmp_path)
    set_value("models.work.context_tokens", "128000", environ=environ, cwd=tmp_path)
    assert parse_toml(file.read_text()) == {
        "models": {"work": {"provider": "openai", "id": "gpt-x", "context_tokens": 128000}}
    }
    set_value("models.work", "ollama:qwen3:8b", environ=environ, cwd=tmp_path)
    set_value("models.own", "extractive", environ=environ, cwd=tmp_path)
    model = load_config(environ=environ, cwd=tmp_path).model("work").model
    assert (model.provider, model.id, model.context_tokens) == ("ollama", "qwen3:8b", 128000)


def test_half_an_alias_is_refused_with_the_command_that_makes_it_and_no_line_of_a_file(
    environ: dict[str, str], tmp_path: Path
) -> None:
    for key in ("models.work.provider", "models.work.id", 'models."a b".id'):
        with pytest.raises(ConfigError) as refused:
            set_value(key, "openai", environ=environ, cwd=tmp_path)
        assert refused.value.message.startswith(f"{key} was not set: models.")
        assert "models.toml" not in refused.value.message
        alias = key.rpartition(".")[0]
        assert refused.value.hint == f"`asky config set {alias} PROVIDER:MODEL_ID` makes the alias first"
    with pytest.raises(NotConfigured, match="there is no model called 'openai'"):
        set_value("models.work", "openai", environ=environ, cwd=tmp_path)
    assert not (tmp_path / "asky" / "config" / "models.toml").exists()
