"""What the configuration files of a model say about making a vector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asky.errors import NotConfigured
from asky.research.embedding.recipe import Recipe, describe, read_recipe

MODULES = [
    {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]
DENSE = {"idx": 2, "path": "2_Dense", "type": "sentence_transformers.models.Dense"}


def recipe(folder: Path, files: dict[str, Any]) -> Recipe:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), "utf-8")
    return read_recipe(folder)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": ["mean"]}, "mean"),
        ({"word_embedding_dimension": 384}, "mean"),
    ],
)
def test_mean_and_cls_pooling_can_be_exported(tmp_path: Path, pooling: dict[str, Any], expected: str) -> None:
    made = recipe(tmp_path, {"modules.json": MODULES, "1_Pooling/config.json": pooling})
    assert (made.pooling, made.plain) == (expected, True)


@pytest.mark.parametrize(
    "files",
    [
        {"modules.json": MODULES, "1_Pooling/config.json": {"pooling_mode": "max"}},
        {"modules.json": MODULES, "1_Pooling/config.json": {"pooling_mode": ["mean", "max"]}},
        {"modules.json": MODULES, "1_Pooling/config.json": {"pooling_mode": "mean", "include_prompt": False}},
        {"modules.json": [*MODULES[:2], DENSE], "1_Pooling/config.json": {"pooling_mode": "mean"}},
        {"modules.json": [{"path": "", "type": "sentence_transformers.models.StaticEmbedding"}]},
        {"modules.json": MODULES, "config.json": {"auto_map": {"AutoModel": "code.Model"}}},
    ],
)
def test_any_other_chain_of_modules_cannot_be_exported_and_has_a_name_of_its_own(
    tmp_path: Path, files: dict[str, Any]
) -> None:
    made = recipe(tmp_path, files)
    assert not made.plain
    assert made.pooling.startswith("modules-")


def test_a_transformer_without_modules_is_pooled_by_the_mean(tmp_path: Path) -> None:
    made = recipe(tmp_path, {"config.json": {"max_position_embeddings": 300}})
    assert (made.pooling, made.plain, made.window) == ("mean", True, 300)


@pytest.mark.parametrize(
    ("files", "window"),
    [
        ({"sentence_bert_config.json": {"max_seq_length": 256}, "config.json": {"max_position_embeddings": 512}}, 256),
        ({"sentence_roberta_config.json": {"max_seq_length": 128}}, 128),
        ({"tokenizer_config.json": {"model_max_length": 512}, "config.json": {"max_position_embeddings": 514}}, 512),
        ({"tokenizer_config.json": {"model_max_length": 1e30}}, 512),
    ],
)
def test_the_window_is_the_least_limit_that_the_files_name(tmp_path: Path, files: dict[str, Any], window: int) -> None:
    assert recipe(tmp_path, {"modules.json": MODULES, **files}).window == window


@pytest.mark.parametrize(
    ("config", "query", "document"),
    [
        ({"prompts": {"query": "query: ", "passage": "passage: "}}, "query: ", "passage: "),
        ({"prompts": {"query": "Q ", "document": "D "}, "default_prompt_name": None}, "Q ", "D "),
        ({"prompts": {"all": "A "}, "default_prompt_name": "all"}, "A ", "A "),
        ({}, "", ""),
    ],
)
def test_questions_and_documents_have_the_prefixes_of_the_model(
    tmp_path: Path, config: dict[str, Any], query: str, document: str
) -> None:
    made = recipe(tmp_path, {"modules.json": MODULES, "config_sentence_transformers.json": config})
    assert (made.query_prefix, made.document_prefix) == (query, document)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("[{", "utf-8")
    with pytest.raises(NotConfigured, match=r"modules\.json"):
        read_recipe(tmp_path)


def test_the_fingerprint_changes_with_everything_that_a_vector_depends_on(tmp_path: Path) -> None:
    prompts = {"config_sentence_transformers.json": {"prompts": {"query": "Q "}}}
    window = {"sentence_bert_config.json": {"max_seq_length": 64}}
    plain = recipe(tmp_path, {"modules.json": MODULES, "1_Pooling/config.json": {"pooling_mode": "mean"}})
    same = {"name": "m", "dim": 8, "precision": "fp32", "weights_sha256": "a" * 64}
    prints = {
        describe(plain, **same).fingerprint,  # type: ignore[arg-type]  # the values of a mixed dictionary
        *(
            describe(plain, **{**same, key: value}).fingerprint  # type: ignore[arg-type]  # likewise
            for key, value in [("name", "n"), ("dim", 9), ("precision", "int8"), ("weights_sha256", "b" * 64)]
        ),
        describe(recipe(tmp_path, prompts), **same).fingerprint,  # type: ignore[arg-type]  # likewise
        describe(recipe(tmp_path, window), **same).fingerprint,  # type: ignore[arg-type]  # likewise
        describe(recipe(tmp_path, {"1_Pooling/config.json": {"pooling_mode": "cls"}}), **same).fingerprint,  # type: ignore[arg-type]  # likewise
    }
    assert len(prints) == 8
