"""A gate: the values that measures must reach, and how far they may fall behind an earlier result.

[least]                       # the measure must be at least
right = 0.60
[most]                        # and at most
claims_unsupported = 0.05
[regression]                  # no worse than an earlier result by more than
against = "baseline.json"
ndcg_cut_10 = 0.01
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from asky.config.documents import parse_toml
from asky.errors import UsageError
from asky.evaluation.scoring import MEASURES
from asky.evaluation.summary import PRECISION_AT

_TABLES = ("least", "most", "regression")
_NAMES = (*MEASURES, PRECISION_AT)
_AGAINST = "against"
_ROUNDING = 1e-9  # 0.8 is reached by 4 of 5, whatever its last binary digit


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The limits by measure. `against` is the result that `regression` compares with, an `asky.eval/1` object."""

    least: Mapping[str, float]
    most: Mapping[str, float]
    regression: Mapping[str, float]
    against: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """One limit and what was measured; `value` is `None` if the measure was not."""

    measure: str
    kind: str
    limit: float
    value: float | None
    passed: bool

    def __str__(self) -> str:
        wanted = {"least": "at least", "most": "at most", "regression": "no worse than before by more than"}[self.kind]
        change = f"changed by {self.value:+.3f}" if self.value is not None else ""
        now = (
            "was not measured"
            if self.value is None
            else change
            if self.kind == "regression"
            else f"is {self.value:.3f}"
        )
        return f"{self.measure} {now}; the gate wants {wanted} {self.limit:g}"


def read_gate(path: Path) -> Gate:
    """Return the gate in `path`. Raises `UsageError` for a file that cannot be read or names an unknown measure."""
    try:
        data = parse_toml(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    for table in data:
        if table not in _TABLES:
            raise UsageError(f"{path}: unknown table [{table}]", hint=f"tables are {', '.join(_TABLES)}")
    against = data.get("regression", {}).pop(_AGAINST, None) if isinstance(data.get("regression"), dict) else None
    limits = {table: _limits(path, table, data.get(table, {})) for table in _TABLES}
    if not any(limits.values()):
        raise UsageError(f"{path}: the gate checks nothing", hint="for example: [least] and ndcg_cut_10 = 0.8")
    if limits["regression"] and against is None:
        raise UsageError(f"{path}: [regression] needs {_AGAINST}, a file that --json has printed")
    return Gate(**limits, against=_read_result(path, against))


def _limits(path: Path, table: str, values: object) -> dict[str, float]:
    if not isinstance(values, dict):
        raise UsageError(f"{path}: [{table}] must be a table")
    known = tuple(MEASURES) if table == "regression" else _NAMES  # a point of a curve is no pair
    for name, value in values.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"measures are {', '.join(known)}"
            raise UsageError(f"{path}: [{table}] unknown measure {name!r}", hint=hint)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise UsageError(f"{path}: [{table}] {name} must be a number from 0 to 1")
    return {name: float(value) for name, value in values.items()}


def _read_result(path: Path, against: object) -> Mapping[str, Any] | None:
    """Return the result in the file `against`, relative to the gate. Raises `UsageError` if it is none."""
    if against is None:
        return None
    file = path.parent / str(against)
    try:
        result = json.loads(file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict) or result.get("schema") != "asky.eval/1" or not result.get("variants"):
        raise UsageError(f"{file}: not a result of `asky eval --json`")
    return result


def check_gate(gate: Gate, values: Mapping[str, float], changes: Mapping[str, float]) -> tuple[GateCheck, ...]:
    """Return every limit of `gate` with its outcome; a measure without a value fails.

    `values` are by measure, and `changes` are their differences to the earlier result.
    """
    return tuple(_checks(gate, values, changes))


def _checks(gate: Gate, values: Mapping[str, float], changes: Mapping[str, float]) -> Iterator[GateCheck]:
    for kind, limits, found in (
        ("least", gate.least, values),
        ("most", gate.most, values),
        ("regression", gate.regression, changes),
    ):
        for name, limit in limits.items():
            value = found.get(name)
            passed = value is not None and _holds(kind, name, value, limit)
            yield GateCheck(measure=name, kind=kind, limit=limit, value=value, passed=passed)


def _holds(kind: str, name: str, value: float, limit: float) -> bool:
    if kind == "most":
        return value <= limit + _ROUNDING
    if kind == "least":
        return value >= limit - _ROUNDING
    is_gain = name not in MEASURES or MEASURES[name].higher_is_better
    return (value if is_gain else -value) >= -limit - _ROUNDING
