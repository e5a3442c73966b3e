"""The pipeline of a sentence-transformers model, read from the configuration files in its folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asky.errors import NotConfigured

_DEFAULT_WINDOW = 512
_LEGACY_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The configuration of a model. `window` counts special tokens too; the prefixes are put before each text.

    `pooling` is `mean` or `cls` if the model is a transformer, one such pooling and a normalisation: such a model is
    `plain`, and an ONNX graph of its transformer is all that it needs. For any other it is a name that changes with the
    configuration. `dim` is `None` where no configuration file says it.
    """

    transformer: str
    pooling: str
    plain: bool
    dim: int | None
    pad_id: int
    window: int
    lower_case: bool
    query_prefix: str
    document_prefix: str


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The properties of a model, known without opening it. `window` is in tokens, special tokens included.

    `fingerprint` names what a vector depends on: name, size, pooling, normalisation, window, precision, prefixes and
    weights.
    """

    fingerprint: str
    dim: int
    window: int
    lower_case: bool
    query_prefix: str
    document_prefix: str


def describe(recipe: Recipe, *, name: str, dim: int, precision: str, weights_sha256: str) -> EmbeddingModel:
    """Return the model for `recipe` and the weights with that hash."""
    treatment = json.dumps([recipe.query_prefix, recipe.document_prefix, recipe.lower_case])
    digest = hashlib.sha256(treatment.encode()).hexdigest()[:8]
    return EmbeddingModel(
        fingerprint=f"{name}:{dim}:{recipe.pooling}:l2:w{recipe.window}:{precision}:{digest}:{weights_sha256[:16]}",
        dim=dim,
        window=recipe.window,
        lower_case=recipe.lower_case,
        query_prefix=recipe.query_prefix,
        document_prefix=recipe.document_prefix,
    )


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe of the model in `folder`. Raises `NotConfigured` if a configuration file is damaged."""
    modules = _read(folder / "modules.json") or [{"type": "Transformer", "path": ""}, {"type": "Pooling", "path": None}]
    kinds = [str(module.get("type", "")).rsplit(".", 1)[-1] for module in modules]
    transformer = str(modules[0].get("path") or "")
    settings = _transformer_settings(folder / transformer)
    config = _read(folder / transformer / "config.json") or {}
    pooling = _pooling(folder, modules[1].get("path")) if kinds[1:2] == ["Pooling"] else None
    plain = (
        kinds in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
        and pooling in ("mean", "cls")
        and settings.get("transformer_task", "feature-extraction") == "feature-extraction"
        and "auto_map" not in config
    )
    query_prefix, document_prefix = _prefixes(folder)
    return Recipe(
        transformer=transformer,
        pooling=pooling if plain and pooling else _described(folder, modules),
        plain=plain,
        dim=_dim(folder, modules, config),
        pad_id=int(config.get("pad_token_id") or 0),
        window=_window(folder / transformer, settings),
        lower_case=bool(settings.get("do_lower_case")),
        query_prefix=query_prefix,
        document_prefix=document_prefix,
    )


def _read(path: Path) -> Any:
    """Return the JSON in `path`, or `None` if there is no such file."""
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise NotConfigured(f"the embedding model's file {path} can't be read: {error}") from error


def _dim(folder: Path, modules: Sequence[dict[str, Any]], config: dict[str, Any]) -> int | None:
    """Return the length of a vector: what the last dense layer puts out, or else the transformer."""
    dense = [_read(folder / str(each.get("path") or "") / "config.json") or {} for each in modules[1:]]
    sizes = [config.get("hidden_size"), *(each.get("out_features") for each in dense)]
    known = [size for size in sizes if isinstance(size, int)]
    return known[-1] if known else None


def _transformer_settings(folder: Path) -> dict[str, Any]:
    names = sorted(folder.glob("sentence_*_config.json"))
    return (_read(names[0]) if names else None) or {}


def _pooling(folder: Path, path: str | None) -> str | None:
    """Return the one pooling mode, or `None` for several or for one that excludes a prompt."""
    config = (_read(folder / path / "config.json") if path is not None else None) or {"pooling_mode": "mean"}
    modes = config.get("pooling_mode") or [mode for key, mode in _LEGACY_POOLING.items() if config.get(key)] or "mean"
    modes = [modes] if isinstance(modes, str) else modes
    return str(modes[0]) if len(modes) == 1 and config.get("include_prompt", True) else None


def _window(folder: Path, settings: dict[str, Any]) -> int:
    if settings.get("max_seq_length"):
        return int(settings["max_seq_length"])
    limits = [
        (_read(folder / "tokenizer_config.json") or {}).get("model_max_length"),
        (_read(folder / "config.json") or {}).get("max_position_embeddings"),
    ]
    # a tokenizer without a limit reports 1e30
    known = [int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < 1e6]
    return min(known, default=_DEFAULT_WINDOW)


def _prefixes(folder: Path) -> tuple[str, str]:
    config = _read(folder / "config_sentence_transformers.json") or {}
    prompts = config.get("prompts") or {}
    default = prompts.get(config.get("default_prompt_name")) or ""
    document = next((prompts[name] for name in ("document", "passage", "corpus") if name in prompts), default)
    return prompts.get("query", default) or "", document or ""


def _described(folder: Path, modules: Sequence[dict[str, Any]]) -> str:
    """Return a name for a chain of modules that changes with their configuration."""
    digest = hashlib.sha256(json.dumps(modules, sort_keys=True).encode())
    for module in modules[1:]:
        config = _read(folder / str(module.get("path") or "") / "config.json")
        digest.update(json.dumps(config, sort_keys=True).encode())
    return f"modules-{digest.hexdigest()[:8]}"
