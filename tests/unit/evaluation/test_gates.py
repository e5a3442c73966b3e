"""Gates and variants: what they check, and how wrong ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asky.config.changing import with_values
from asky.config.loader import load_config
from asky.errors import ConfigError, UsageError
from asky.evaluation.gate import check_gate, read_gate
from asky.evaluation.variation import grid, variant_name


def gate_file(folder: Path, text: str) -> Path:
    path = folder / "gate.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_gate_checks_each_limit(tmp_path: Path) -> None:
    earlier = {"schema": "asky.eval/1", "variants": [{"results": []}]}
    (tmp_path / "before.json").write_text(json.dumps(earlier), "utf-8")
    gate = read_gate(
        gate_file(
            tmp_path,
            "[least]\nright = 0.8\nndcg_cut_10 = 0.5\nprecision_at_70 = 0.9\n[most]\nclaims_unsupported = 0.1\n"
            '[regression]\nagainst = "before.json"\nmap = 0.01\nclaims_partial = 0.01\n',
        )
    )
    values = {"right": 0.8, "ndcg_cut_10": 0.49, "claims_unsupported": 0.11}
    checks = check_gate(gate, values, {"map": -0.02, "claims_partial": -0.5})
    assert [(each.measure, each.passed) for each in checks] == [
        ("right", True),
        ("ndcg_cut_10", False),
        ("precision_at_70", False),  # not measured: it fails
        ("claims_unsupported", False),
        ("map", False),
        ("claims_partial", True),  # fewer are better
    ]
    assert str(checks[1]) == "ndcg_cut_10 is 0.490; the gate wants at least 0.5"
    assert str(checks[2]) == "precision_at_70 was not measured; the gate wants at least 0.9"
    assert str(checks[4]) == "map changed by -0.020; the gate wants no worse than before by more than 0.01"


def test_a_share_that_is_reached_passes_whatever_its_last_digit(tmp_path: Path) -> None:
    gate = read_gate(gate_file(tmp_path, "[least]\nright = 0.3\n[most]\nclaims_partial = 0.3\n"))
    assert all(each.passed for each in check_gate(gate, {"right": 0.1 * 3, "claims_partial": 0.1 * 3}, {}))
    assert all(each.passed for each in check_gate(gate, {"right": 1 - 0.7, "claims_partial": 1 - 0.7}, {}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[least]\nrigth = 0.5\n", r"\[least\] unknown measure 'rigth'"),
        ("[lest]\nright = 0.5\n", r"unknown table \[lest\]"),
        ("right = 0.5\n", r"unknown table \[right\]"),
        ("", "the gate checks nothing"),
        ("[least]\n", "the gate checks nothing"),
        ("[least]\nright = 5\n", "must be a number from 0 to 1"),
        ("[least]\nright = true\n", "must be a number from 0 to 1"),
        ("[least]\nright = nan\n", "must be a number from 0 to 1"),
        ("least = 3\n", r"\[least\] must be a table"),
        ("[regression]\nmap = 0.1\n", "needs against"),
        ('[regression]\nagainst = "none.json"\nmap = 0.1\n', "cannot read"),
        ('[regression]\nagainst = "gate.toml"\nmap = 0.1\n', "not a result of"),
        ("[regression]\nprecision_at_70 = 0.1\n", "unknown measure 'precision_at_70'"),
        ("[least\n", "not TOML"),
    ],
)
def test_a_gate_in_error_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_gate(gate_file(tmp_path, text))
    with pytest.raises(UsageError, match="cannot read"):
        read_gate(tmp_path / "missing.toml")


def test_several_options_make_a_grid() -> None:
    assert grid(["a.b=1,2", "c.d=x"]) == ((("a.b", "1"), ("c.d", "x")), (("a.b", "2"), ("c.d", "x")))
    assert grid([]) == ((),)
    assert grid(['a.b=["x","y"],[]']) == ((("a.b", '["x","y"]'),), (("a.b", "[]"),))
    assert variant_name(grid(["a.b=1,2"])[1]) == "a.b=2"
    assert variant_name(()) == "as configured"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["a.b"], "not KEY=VALUE"),
        (["=1"], "not KEY=VALUE"),
        (["a.b="], "not KEY=VALUE"),
        (["a.b=1,,2"], "not KEY=VALUE"),
        (["a.b=1,1"], "a value comes twice"),
        (["a.b=1", "a.b=2"], "is given twice"),
        (["a.b=" + ",".join(map(str, range(33)))], "33 variants; the limit is 32"),
    ],
)
def test_a_variation_in_error_is_refused(options: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grid(options)


def test_values_are_set_as_by_flags(tmp_path: Path) -> None:
    environ = {"ASKY_HOME": str(tmp_path), "HOME": str(tmp_path)}
    config = load_config(environ=environ, cwd=tmp_path)
    values = {"retrieval.dense_weight": "0.5", "research.sources.allow_domains": '["a.example"]', "max_turns": "3"}
    with pytest.raises(ConfigError, match="unknown key max_turns"):  # of several tables
        with_values(config, values, environ=environ, cwd=tmp_path)
    del values["max_turns"]
    changed = with_values(config, values, environ=environ, cwd=tmp_path)
    assert changed.research.retrieval.dense_weight == 0.5
    assert changed.research.sources.allow_domains == ("a.example",)
    assert changed.origins["research.retrieval.dense_weight"].layer == "flag"
    assert config.research.retrieval.dense_weight != 0.5
    provider = next(iter(config.providers))
    changed = with_values(config, {f"providers.{provider}.context_tokens": "4096"}, environ=environ, cwd=tmp_path)
    assert changed.providers[provider].context_tokens == 4096


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("retrieval.dense_wieght", "0.5", "unknown key"),
        ("retrieval.dense_weight", "2", "from 0 to 1"),
        ("research.retrieval", "2", "is a table"),
        ("research.chunking.overlap_tokens", "199", "must be at most half"),
        ("providers.nobody.base_url", "http://x", "there is no nobody"),
    ],
)
def test_a_value_in_error_is_refused(tmp_path: Path, key: str, value: str, message: str) -> None:
    environ = {"ASKY_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with pytest.raises(ConfigError, match=message):
        with_values(load_config(environ=environ, cwd=tmp_path), {key: value}, environ=environ, cwd=tmp_path)
