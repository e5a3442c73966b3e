"""`asky models test` against scripted endpoints: the table, the exit codes, the second opinion, and no key anywhere."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from asky.app.models import ModelTarget, ModelTrial
from asky.cli.model_test_view import list_rows
from asky.llm.endpoint.probe import Abilities
from tests.support.asky_command import clean_environment, run_asky
from tests.support.endpoint import (
    GEMINI,
    LLAMACPP,
    OLLAMA,
    OPENAI,
    Answer,
    Dialect,
    Endpoint,
    Entry,
    Problem,
    Raw,
    Request,
    Rules,
    Wire,
    obedient,
)
from tests.support.here import run_here

CANARY = "sk-canary-0123456789abcdef"
TEXT_CALL = '<tool_call>{"name": "current_time", "arguments": {"zone": "UTC"}}</tool_call>'


def tried(
    home: Path, base_url: str, *arguments: str, more: str = "", environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`asky models test mine ARGUMENTS`, with the model `mine` at `base_url`; the key must not be in the output.

    The name of the key's variable does not say that it holds a secret.
    """
    file = home / "asky" / "config" / "models.toml"
    file.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    file.write_text(
        f'[providers.lab]\nbase_url = "{base_url}"\napi_key_env = "LAB"\n{more}'
        '[models.mine]\nprovider = "lab"\nid = "test-model"\n'
    )
    done = run_here("models", "test", "mine", *arguments, home=home, environ={"LAB": CANARY, **(environ or {})})
    assert CANARY not in done.stdout + done.stderr
    return done


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The state of each ability, by its name."""
    return {
        line[5:25].strip(): line[:5].strip()
        for line in done.stdout.splitlines()
        if line[:5].strip() in ("yes", "no", "?")
    }


@pytest.mark.parametrize("dialect", [OPENAI, OLLAMA, LLAMACPP, GEMINI], ids=lambda dialect: dialect.name)
def test_an_endpoint_that_does_what_asky_needs(tmp_path: Path, dialect: Dialect) -> None:
    with Endpoint(obedient, dialect=dialect, rules=Rules(api_key=CANARY)) as endpoint:
        done = tried(tmp_path, endpoint.base_url)
        assert done.returncode == 0
        found = rows(done)
        assert found.pop("context size") == "?"
        assert set(found.values()) == {"yes"}
        assert {"answers", "streams", "reports tokens", "calls tools"} <= set(found)
        assert "first token after" in done.stdout
        report = json.loads(tried(tmp_path, endpoint.base_url, "--json").stdout)
    assert endpoint.faults == []
    assert (report["schema"], report["ok"], report["tool_calls"]) == ("asky.model_test/1", True, "native")
    assert (report["alias"], report["provider"], report["id"]) == ("mine", "lab", "test-model")
    assert (report["error"], report["official_client"]) == (None, None)
    assert report["context_tokens"] == {"configured": 32768, "found": None}


def test_a_model_that_calls_no_tool_is_reported_and_is_no_failure(tmp_path: Path) -> None:
    with Endpoint("It is noon.") as endpoint:
        done = tried(tmp_path, endpoint.base_url)
    assert done.returncode == 0
    assert (rows(done)["answers"], rows(done)["calls tools"]) == ("yes", "no")


def test_calls_as_text_are_told_apart_and_understood_where_that_is_set(tmp_path: Path) -> None:
    with Endpoint(Answer(TEXT_CALL)) as endpoint:
        done = tried(tmp_path, endpoint.base_url)
        assert rows(done)["calls tools"] == "no"
        assert "set text_tool_calls" in done.stdout
        done = tried(tmp_path, endpoint.base_url, more="text_tool_calls = true\n")
        assert rows(done)["calls tools"] == "yes"


@pytest.mark.parametrize(
    ("entry", "code", "opinion"),
    [
        (Problem("auth", message=f"Incorrect key {CANARY}"), 4, None),
        (Problem("quota"), 6, None),
        (Problem("unknown_model"), 3, "HTTP 404"),
        (Problem("bad_request", message=f"what is {CANARY}?"), 8, "HTTP 400"),
        (Raw(b"<html>hello</html>", content_type="text/html"), 8, "an empty reply"),
    ],
    ids=lambda value: value.kind if isinstance(value, Problem) else None,
)
def test_a_failure_has_its_exit_code_and_a_second_opinion_where_there_is_doubt(
    tmp_path: Path, entry: Entry, code: int, opinion: str | None
) -> None:
    with Endpoint(entry) as endpoint:
        done = tried(tmp_path, endpoint.base_url)
        assert done.returncode == code
        assert rows(done) == {"answers": "no"}
        assert "\nasky: " in done.stderr
        assert (f"the official openai client fails too: {opinion}" in done.stdout) == (opinion is not None)
        as_json = tried(tmp_path, endpoint.base_url, "--json")
    report = json.loads(as_json.stdout)
    assert report["ok"] is False
    assert report["error"] == {key: value for key, value in json.loads(as_json.stderr).items() if key != "schema"}
    assert report["official_client"] == (None if opinion is None else {"replied": False, "failure": opinion})


def test_the_key_of_another_provider_is_masked_too(tmp_path: Path) -> None:
    other = "other-canary-0123456789"
    more = '[providers.two]\nbase_url = "http://two/v1"\napi_key_env = "TWO"\n'
    with Endpoint(Problem("bad_request", message=f"what is {other}?")) as endpoint:
        for arguments in ((), ("--json",)):
            done = tried(tmp_path, endpoint.base_url, *arguments, more=more, environ={"TWO": other})
            assert done.returncode == 8
            assert "what is [hidden]?" in done.stdout + done.stderr
            assert other not in done.stdout + done.stderr


def test_a_request_that_only_the_official_client_gets_through_is_called_a_fault_of_ours(tmp_path: Path) -> None:
    def picky(request: Request) -> Problem | Answer:
        ours = request.headers["user-agent"].startswith("asky/")
        return Problem("bad_request") if ours else Answer("Hello.")

    with Endpoint(picky) as endpoint:
        done = tried(tmp_path, endpoint.base_url)
    assert done.returncode == 8
    assert "the official openai client got a reply to the same request" in done.stdout


def test_an_endpoint_that_is_down_is_unreachable(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # and never listens
        port = listener.getsockname()[1]
        done = tried(tmp_path, f"http://127.0.0.1:{port}/v1")
    assert done.returncode == 5
    assert f"mine at http://127.0.0.1:{port}/v1" in done.stderr
    assert "fails too: the connection failed" in done.stdout


def test_a_model_without_its_key_is_not_called(tmp_path: Path) -> None:
    done = run_here("models", "test", "gemini:x", home=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "GEMINI_API_KEY is not set" in done.stderr


def test_the_extractive_model_needs_no_endpoint(tmp_path: Path) -> None:
    assert "needs no endpoint" in run_asky("models", "test", home=tmp_path).stdout
    report = json.loads(run_asky("models", "test", "extractive", "--json", home=tmp_path).stdout)
    assert (report["schema"], report["ok"], report["host"]) == ("asky.model_test/1", True, None)


def test_ctrl_c_ends_a_test_that_gets_no_answer(tmp_path: Path) -> None:
    with Endpoint(Answer("Hello.", wire=Wire(silent_before_headers=True))) as endpoint:
        environ = clean_environment(tmp_path, {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": CANARY})
        process = subprocess.Popen(
            [sys.executable, "-m", "asky", "models", "test", "openai:test-model"],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        endpoint.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        endpoint.wait_for_abandoned()
    assert process.returncode == 130
    assert CANARY not in out + err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("found", "state", "remark"),
    [
        (None, "?", "it does not report one"),
        (4096, "no", "`asky config set models.mine.context_tokens 4096`"),
        (8192, "yes", "it reports 8,192 tokens, asky assumes 8,192"),
        (9000, "yes", "`asky config set models.mine.context_tokens 9000`"),
    ],
)
def test_the_context_that_an_endpoint_names_is_held_against_the_configured_one(
    found: int | None, state: str, remark: str
) -> None:
    target = ModelTarget(alias="mine", provider="lab", id="m", host="lab", context_tokens=8192, is_alias=True)
    abilities = Abilities(True, {}, streams=True, reports_usage=True, tool_calls="native", context_tokens=found)
    (row,) = [row for row in list_rows(ModelTrial(target, abilities)) if row[1] == "context size"]
    assert row[0] == state
    assert remark in row[2]


def test_what_was_learned_of_an_endpoint_is_found_out_anew(tmp_path: Path) -> None:
    more = "parameters = { seed = 7 }\n"
    with Endpoint(obedient, rules=Rules(refuses={"seed": None})) as endpoint:
        assert "refuses the parameter seed" in tried(tmp_path, endpoint.base_url, more=more).stdout
        assert ["seed" in request.json for request in endpoint.requests] == [True, False, False]
        endpoint.rules = Rules()
        assert "refuses" not in tried(tmp_path, endpoint.base_url, more=more).stdout
        assert all("seed" in request.json for request in endpoint.requests[3:])
