"""Models, and how a trial of one went, as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asky.app.local_models import LocalModel, RemovedModel
    from asky.app.models import DefaultModel, ListedModel, ModelCatalog, ModelDetails, ModelTrial
    from asky.config.layers import Origin


def models_object(catalog: ModelCatalog, local: Sequence[LocalModel] = ()) -> dict[str, Any]:
    """Return models and providers, and the models on this machine, as an `asky.models/1` object."""
    providers = [
        {"name": each.name, "base_url": each.base_url, "api_key_env": each.api_key_env, "key_is_set": each.key_is_set}
        for each in catalog.providers
    ]
    models = [_listed_model(each) for each in catalog.models]
    head = {"schema": "asky.models/1", "default": catalog.default, "models": models, "providers": providers}
    return head | {"local": [_local_model(each) for each in local]}


def local_model_object(model: LocalModel, *, is_new: bool) -> dict[str, Any]:
    """Return a model on this machine as an `asky.local_model/1` object; `is_new` says that it was downloaded now."""
    return {"schema": "asky.local_model/1", **_local_model(model), "downloaded": is_new}


def removed_model_object(removed: RemovedModel) -> dict[str, Any]:
    """Return a model that was removed as an `asky.removed_model/1` object."""
    used_by = list(removed.used_by)
    return {"schema": "asky.removed_model/1", "name": removed.name, "bytes": removed.bytes, "used_by": used_by}


def _local_model(model: LocalModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "uses": list(model.uses),
        "source": model.source,
        "path": None if model.path is None else str(model.path),
        "bytes": model.bytes,
        "used_by": list(model.used_by),
        "problem": model.problem,
    }


def _listed_model(model: ListedModel) -> dict[str, Any]:
    return {
        "alias": model.alias,
        "default": model.is_default,
        "provider": model.provider,
        "id": model.id,
        "base_url": model.base_url,
        "context_tokens": model.context_tokens,
        "context_is_assumed": model.context_is_assumed,
        "max_output_tokens": model.max_output_tokens,
        "prices": model.prices,
        "api_key_env": model.api_key_env,
        "key_is_set": model.key_is_set,
    }


def model_object(model: ModelDetails) -> dict[str, Any]:
    """Return the properties of a model as an `asky.model/1` object."""
    origins = {each.name: origin_object(each.origin) for each in model.properties if each.origin is not None}
    values = {each.name: each.value for each in model.properties}
    head: dict[str, Any] = {"schema": "asky.model/1", "alias": model.alias, "default": model.is_default}
    return head | values | {"origins": origins}


def default_model_object(default: DefaultModel) -> dict[str, Any]:
    """Return the default model as an `asky.default_model/1` object."""
    assert default.origin is not None  # the packaged configuration names one
    return {"schema": "asky.default_model/1", "default": default.name, "origin": origin_object(default.origin)}


def model_test_object(trial: ModelTrial) -> dict[str, Any]:
    """Return the result of a test as an `asky.model_test/1` object."""
    target, found, report = trial.target, trial.abilities, trial.report
    error = None if report is None else {"code": report.code, "message": report.message, "hint": report.hint}
    head: dict[str, Any] = {
        "schema": "asky.model_test/1",
        "alias": target.alias,
        "provider": target.provider,
        "id": target.id,
    }
    head |= {"host": target.host, "ok": report is None}
    if found is None:
        return head | {"error": error}
    official = trial.official
    return head | {
        "reachable": found.reachable,
        "streams": found.streams,
        "reports_usage": found.reports_usage,
        "tool_calls": found.tool_calls,
        "honours_tool_choice": found.honours_tool_choice,
        "first_token_ms": None if found.first_token_ms is None else round(found.first_token_ms, 1),
        "context_tokens": {"configured": target.context_tokens, "found": found.context_tokens},
        "warnings": list(found.warnings),
        "error": error,
        "official_client": None
        if official is None
        else {"replied": official.failure is None, "failure": official.failure},
    }


def origin_object(origin: Origin) -> dict[str, Any]:
    """Return the origin of a value as it stands in other objects."""
    return {"layer": origin.layer, "source": origin.source, "line": origin.line}
