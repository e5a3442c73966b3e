"""Models, checks and completion through the library: they need no store, and the checks no valid configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky import Asky
from asky.app.diagnostics import DiagnosticsService
from asky.app.schemas.config import doctor_object
from asky.app.schemas.model import models_object
from asky.config.loader import load_config
from asky.errors import UsageError


def opened(home: Path) -> Asky:
    environ = {"ASKY_HOME": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    return Asky.open(load_config(environ=environ, cwd=home), environ=environ)


def test_models_are_described_and_names_completed_without_a_store(tmp_path: Path) -> None:
    with opened(tmp_path) as asky:
        catalog = asky.models.list()
        assert catalog.default in {each.alias for each in catalog.models}
        assert asky.models.show(catalog.default).is_default
        assert models_object(catalog)["schema"] == "asky.models/1"
        assert asky.completion.models(catalog.default[:2]) != []
        assert asky.completion.sessions("") == asky.completion.runs("") == []
    assert not list(tmp_path.rglob("asky.db"))


def test_the_checks_work_although_the_configuration_is_broken(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/research.toml").write_text("[research]\nmax_turns = 'many'\n")
    environ = {"ASKY_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    checks = list(DiagnosticsService(environ, tmp_path).check())
    assert "problem" in {each.state for each in checks if each.name == "configuration"}
    assert doctor_object(checks)["problems"] >= 1


def test_nothing_is_offered_once_it_is_closed(tmp_path: Path) -> None:
    asky = opened(tmp_path)
    asky.close()
    for name in ("models", "diagnostics", "completion", "chat"):
        with pytest.raises(UsageError, match="closed"):
            getattr(asky, name)
