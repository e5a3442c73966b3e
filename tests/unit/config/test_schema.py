from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from asky.config.documents import parse_toml
from asky.config.keys import build, children, dotted, find, leaves, nearest
from asky.config.layers import variable_of
from asky.config.listing import list_values
from asky.config.loader import load_config
from asky.config.packaged import packaged_text
from asky.config.schema import FILES, Model, Research


def test_the_packaged_files_say_what_the_schema_says(tmp_path: Path) -> None:
    config = load_config(environ={"ASKY_HOME": str(tmp_path)}, cwd=tmp_path)
    assert dataclasses.replace(config, origins={}, providers={}) == dataclasses.replace(type(config)(), providers={})
    assert type(config)().providers == {}


def test_the_packaged_file_holds_every_key_that_has_a_default() -> None:
    data = parse_toml(packaged_text("research.toml"))
    for path, leaf in leaves():
        if path[0] in FILES["research.toml"] and "NAME" not in path and leaf.default not in (None, {}):
            found: object = data
            for name in path:
                assert isinstance(found, dict)
                found = found[name]
            assert found == (list(leaf.default) if isinstance(leaf.default, tuple) else leaf.default)


def test_every_default_is_inside_its_bounds() -> None:
    for path, leaf in leaves():
        if leaf.low is not None and leaf.high is not None and isinstance(leaf.default, (int, float)):
            assert leaf.low <= leaf.default <= leaf.high, dotted(path)


def test_every_key_has_a_meaning_that_is_a_sentence() -> None:
    for path, leaf in leaves():
        assert leaf.meaning.endswith("."), dotted(path)


def test_paths_programs_hosts_and_limits_are_closed_to_project_files() -> None:
    open_to_projects = {dotted(path) for path, leaf in leaves() if leaf.project}
    guarded = ("research.local_document_roots", "research.embedding.", "research.reading.")
    assert not any(
        key.startswith((*guarded, "notes.", "budget.", "providers.", "models.", "default")) for key in open_to_projects
    )
    assert not any("source_adapters" in key for key in open_to_projects)
    assert not open_to_projects & {"research.max_turns", "research.passage_tokens", "research.max_passages"}


def test_a_path_leads_to_its_node_or_to_none() -> None:
    assert find(("research", "max_turns")) == children(Research)["max_turns"]
    assert find(("research", "max_turns", "x")) is None
    assert find(("models", "")) is None
    assert find(("nothing",)) is None
    assert nearest(("research", "embeding")) == ("research", "embedding")
    assert nearest(("qqqqqqq",)) is None


def test_dotted_names_are_quoted_where_toml_needs_it() -> None:
    assert dotted(("models", "gpt-4.1", "é", "plain_1")) == 'models."gpt-4.1"."é".plain_1'


def test_values_are_built_into_the_dataclasses() -> None:
    settings = build({("models", "m", "provider"): "extractive", ("research", "max_turns"): 3})
    assert settings.models == {"m": Model(provider="extractive")}
    assert settings.research.max_turns == 3
    with pytest.raises(TypeError):
        build({("models", "m", "model"): "x"})


def test_every_key_has_its_own_variable() -> None:
    variables = [variable_of(path) for path, _ in leaves()]
    assert len(set(variables)) == len(variables)
    assert variable_of(("research", "embedding", "model")) == "ASKY_RESEARCH__EMBEDDING__MODEL"


def test_every_value_is_listed_with_its_origin_and_secrets_masked(tmp_path: Path) -> None:
    environ = {
        "ASKY_HOME": str(tmp_path),
        "WIKI_TOKEN": "very-secret-token",
        "ASKY_RESEARCH__SOURCE_ADAPTERS__WIKI__PREFIX": "wiki://",
        "ASKY_RESEARCH__SOURCE_ADAPTERS__WIKI__TOOL": '["wiki", "--auth=very-secret-token"]',
    }
    entries = {e.key: e for e in list_values(load_config(environ=environ, cwd=tmp_path), environ)}
    tool = entries["research.source_adapters.wiki.tool"]
    assert tool.value == ["wiki", "--auth=***"]
    assert str(tool.origin) == "environment ASKY_RESEARCH__SOURCE_ADAPTERS__WIKI__TOOL"
    assert str(entries["ui.color"].origin) == "packaged research.toml"
    assert entries["research.local_document_roots"].value == []
    assert entries["research.source_adapters.wiki.timeout_s"].origin is None
    assert "models.extractive.model" not in entries
