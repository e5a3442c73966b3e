"""`asky models` in a process of its own: what it shows, what it writes, and that no key is ever among it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.test_startup import modules_of
from tests.support.asky_command import run_asky
from tests.support.here import run_here

CANARY = "sk-canary-0123456789abcdef"
KEYS = {"OPENAI_API_KEY": CANARY, "LAB_LLM_KEY": CANARY[::-1]}
MODELS = """\
# my models
default = "fast"

[providers.lab]
base_url = "http://lab.example:8000/v1"
api_key_env = "LAB_LLM_KEY"

[models.fast]
provider = "openai"
id = "some-model"
context_tokens = 128000
input_price = 0.15
output_price = 0.6
parameters = { temperature = 0.2 }

[models.slow]
provider = "lab"
id = "some-model"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The user's own models.toml."""
    path = tmp_path / "asky" / "config" / "models.toml"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text(MODELS)
    path.chmod(0o600)
    return path


def run(home: Path, *arguments: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`asky models ARGUMENTS`; the values of keys must not be in its output."""
    done = run_here("models", *arguments, home=home, environ={**KEYS, **(environ or {})})
    for key in KEYS.values():
        assert key not in done.stdout + done.stderr
    return done


def test_the_list_says_where_models_are_what_they_cost_and_whether_their_keys_are_set(
    tmp_path: Path, file: Path
) -> None:
    done = run(tmp_path, "list", environ={"LAB_LLM_KEY": ""})
    assert done.returncode == 0
    lines = {line[2:].split()[0]: " ".join(line.split()) for line in done.stdout.splitlines() if line}
    assert lines["fast"] == "* fast openai some-model 128,000 0.15 / 0.6 yes"
    assert lines["slow"] == "slow lab some-model ~32,768 - no: LAB_LLM_KEY is not set"
    assert lines["extractive"] == "extractive extractive - - - not needed"
    assert lines["ollama:MODEL_ID"] == "ollama:MODEL_ID http://localhost:11434/v1 not needed"
    assert lines["gemini:MODEL_ID"].endswith("no: GEMINI_API_KEY is not set")
    assert done.stderr == "~ is assumed: the model's entry sets no context_tokens\n"


def test_the_list_as_json_is_one_object_of_its_schema(tmp_path: Path, file: Path) -> None:
    done = run(tmp_path, "list", "--json", environ={"ASKY_MODEL": "ollama:a/b:c"})
    assert done.stderr == ""
    listed = json.loads(done.stdout)
    assert (listed["schema"], listed["default"]) == ("asky.models/1", "ollama:a/b:c")
    models = {each["alias"]: each for each in listed["models"]}
    assert models["fast"] == {
        "alias": "fast",
        "default": False,
        "provider": "openai",
        "id": "some-model",
        "base_url": "https://api.openai.com/v1",
        "context_tokens": 128000,
        "context_is_assumed": False,
        "max_output_tokens": None,
        "prices": {"input": 0.15, "output": 0.6, "cached_input": None},
        "api_key_env": "OPENAI_API_KEY",
        "key_is_set": True,
    }
    assert (models["ollama:a/b:c"]["id"], models["ollama:a/b:c"]["default"]) == ("a/b:c", True)
    assert models["slow"]["base_url"] == "http://lab.example:8000/v1"
    assert {each["name"] for each in listed["providers"]} >= {"openai", "ollama", "lab"}


def test_a_default_that_is_not_there_is_said_beside_the_list(tmp_path: Path, file: Path) -> None:
    done = run(tmp_path, "list", environ={"ASKY_MODEL": "gone"})
    assert done.returncode == 0
    assert "the default model 'gone' does not exist" in done.stderr


def test_a_model_is_shown_with_the_origin_of_each_value(tmp_path: Path, file: Path) -> None:
    done = run(tmp_path, "show", "fast")
    lines = {line.split(" = ")[0]: " ".join(line.split(" = ")[1].split()) for line in done.stdout.splitlines()}
    assert lines["id"] == f'"some-model" # user {file}:10'
    assert lines["base_url"] == '"https://api.openai.com/v1" # packaged models.toml'
    assert lines["key_is_set"] == "true"
    assert lines["parameters"] == f'{{"temperature":0.2}} # user {file}:14'
    assert lines["timeouts.first_token_s"] == "120.0 # default"
    shown = json.loads(run(tmp_path, "show", "fast", "--json").stdout)
    assert (shown["schema"], shown["alias"], shown["default"]) == ("asky.model/1", "fast", True)
    assert shown["origins"]["id"] == {"layer": "user", "source": str(file), "line": 10}
    assert "key_is_set" not in shown["origins"]


def test_a_model_without_an_entry_is_shown_too(tmp_path: Path) -> None:
    done = run(tmp_path, "show", "ollama:qwen3:8b")
    assert done.stdout.startswith('provider = "ollama"\nid = "qwen3:8b"\n')
    assert run(tmp_path, "show", "extractive").stdout == 'provider = "extractive"  # packaged models.toml\n'


@pytest.mark.parametrize("command", ["show", "default"])
def test_an_unknown_model_is_not_configured(tmp_path: Path, file: Path, command: str) -> None:
    before = file.read_bytes()
    done = run(tmp_path, command, "fsat")
    assert done.returncode == 3
    assert done.stderr.startswith("asky: there is no model called 'fsat'\nhint: did you mean fast?")
    done = run(tmp_path, command, "olama:x", "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert json.loads(done.stderr)["hint"] == "did you mean ollama:x?"
    assert file.read_bytes() == before


def test_the_default_is_shown_with_who_set_it(tmp_path: Path, file: Path) -> None:
    assert run(tmp_path, "default").stdout == "fast\n"
    assert f"{file}:2" in run(tmp_path, "default").stderr
    done = run(tmp_path, "default", environ={"ASKY_MODEL": "slow"})
    assert (done.stdout, done.stderr) == ("slow\n", "(environment ASKY_MODEL)\n")
    assert json.loads(run(tmp_path, "default", "--json").stdout) == {
        "schema": "asky.default_model/1",
        "default": "fast",
        "origin": {"layer": "user", "source": str(file), "line": 2},
    }


def test_the_default_is_set_in_the_users_file_and_the_rest_of_it_stays(tmp_path: Path, file: Path) -> None:
    done = run(tmp_path, "default", "slow")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"set default in {file}\n")
    assert file.read_text() == MODELS.replace('default = "fast"', 'default = "slow"')
    done = run(tmp_path, "default", "gemini:x", environ={"ASKY_MODEL": "fast"})
    assert "note: here it is overridden by environment ASKY_MODEL" in done.stderr
    assert "note: its key is not set: export GEMINI_API_KEY=..." in done.stderr
    assert 'default = "gemini:x"' in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f'[providers.openai]\napi_key_env = "{CANARY}"\n', 2),
        (f'[providers.openai]\napi_key = "{CANARY}"\n', 2),
        (f'[providers.openai]\nbase_url = "https://user:{CANARY}@host/v1"\n', 2),
        (f'[providers.openai]\nbase_url = "https://host/v1?key={CANARY}"\n', 2),
        (f"[providers.openai]\napi_key_env = {CANARY}\n", 2),
        (f'[providers.openai]\napi_key_env = "{CANARY}\n', 2),
        (f'[models.m]\nprovider = "{CANARY}"\n', 2),
        (f'[models.m]\nprovider = "openai"\nid = "x"\nparameters = {{ api_key = "{CANARY}" }}\n', 2),
        (f'[models.m]\nprovider = "openai"\nid = "x"\nparameters = {{ my_secret = "{CANARY}" }}\n', 0),
    ],
)
def test_a_key_in_the_file_is_never_repeated(tmp_path: Path, file: Path, text: str, code: int) -> None:
    file.write_text(text)
    for arguments in (["list"], ["list", "--json"], ["show", "m", "--json"], ["default", "extractive"]):
        done = run_here("models", *arguments, home=tmp_path)
        if arguments[0] == "list":
            assert done.returncode == code
        assert CANARY not in done.stdout + done.stderr
    for other in (["config", "show"], ["config", "validate"], ["doctor", "--json"]):
        done = run_here(*other, home=tmp_path)
        assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize("url", [f"https://me:{CANARY}@host/v1", f"https://host/v1?key={CANARY}", CANARY])
def test_a_key_in_openai_base_url_is_never_repeated(tmp_path: Path, url: str) -> None:
    for arguments in (
        ["models", "list", "--json"],
        ["models", "show", "openai:x"],
        ["config", "show"],
        ["config", "validate"],
        ["doctor"],
    ):
        done = run_here(*arguments, home=tmp_path, environ={"OPENAI_BASE_URL": url, "ASKY_MODEL": "openai:x"})
        assert CANARY not in done.stdout + done.stderr
        assert done.returncode == (0 if "list" in arguments or arguments == ["config", "show"] else done.returncode)
    done = run_here("models", "show", "openai:x", home=tmp_path, environ={"OPENAI_BASE_URL": url})
    assert done.returncode == 2
    assert done.stderr.startswith("asky: OPENAI_BASE_URL: not a valid address")


def test_doctor_names_the_default_model_and_the_variable_of_its_key(tmp_path: Path, file: Path) -> None:
    checks = json.loads(run_here("doctor", "--json", home=tmp_path).stdout)["checks"]
    (found,) = [each for each in checks if each["name"] == "default model"]
    assert found["state"] == "problem"
    assert "OPENAI_API_KEY is not set" in found["message"]
    done = run_here("doctor", "--json", home=tmp_path, environ=KEYS)
    (found,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "default model"]
    assert found["state"] == "ok"
    assert CANARY not in done.stdout + done.stderr


def test_aliases_are_completed(tmp_path: Path, file: Path) -> None:
    for words, expected in (("asky models show f", ["plain,fast"]), ("asky models default sl", ["plain,slow"])):
        environ = {"_ASKY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "3"}
        assert run_asky(home=tmp_path, environ=environ).stdout.split() == expected
    file.write_text("[broken")
    environ = {"_ASKY_COMPLETE": "bash_complete", "COMP_WORDS": "asky models show f", "COMP_CWORD": "3"}
    done = run_asky(home=tmp_path, environ=environ)
    assert (done.stdout.split(), done.stderr) == ([], "")


@pytest.mark.parametrize(
    "arguments", [["list"], ["list", "--json"], ["show", "fast"], ["default"], ["default", "fast"]]
)
def test_nothing_of_the_network_the_store_or_vectors_is_loaded(
    tmp_path: Path, file: Path, arguments: list[str]
) -> None:
    loaded = modules_of(["models", *arguments], tmp_path)
    assert not loaded & {"anyio", "httpx", "httpx2", "numpy", "openai", "pydantic", "sqlite3", "ssl"}


def test_looking_writes_nothing(tmp_path: Path) -> None:
    for arguments in (["list"], ["show", "ollama:x"], ["default"], ["--help"]):
        assert run(tmp_path, *arguments).returncode == 0
    assert list(tmp_path.iterdir()) == []
