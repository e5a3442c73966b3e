"""What the command line prints and how it ends, compared with files that were written when it did so before.

Each file in `contracts` is one command: see `tests.support.contracts` for what may vary and what may not, and for how
to write the files anew. Fields may be added to what is printed; none may be changed or taken away.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT, run_asky
from tests.support.contracts import (
    Contracts,
    Read,
    as_events,
    as_evidence,
    as_html,
    as_json,
    as_json_lines,
    as_text,
    by,
)
from tests.support.endpoint import Answer, Call, Endpoint, Problem, Request, Usage
from tests.support.in_process import Done, InProcess
from tests.support.site import Site

pytestmark = pytest.mark.model

TIDES = "How many high tides does the moon raise in a day?"
PAINTER = "Who painted the ceiling of the Sistine Chapel?"
NILE = "How long is the Nile?"
KEY = "sk-canary-5b1f0c7e"
USED = Usage(4_000, 50)
SEARCH = Answer(calls=(Call("get_relevant_content", {"queries": ["high tides moon"]}),), usage=USED)


class Printed:
    """Runs `asky` over the documents of the test and compares what it prints."""

    def __init__(self, asky: InProcess, contracts: Contracts, tmp: Path) -> None:
        self.tmp = tmp
        self.docs = str(tmp / "docs")
        self._asky = asky
        self._contracts = contracts

    def quietly(self, *arguments: str) -> Done:
        """Run a command that only prepares another one."""
        return self._asky(*arguments)

    def __call__(self, name: str, *arguments: str, read: Read | None = None, file: str | None = None) -> Done:
        """Run and compare; with `file`, what it writes with `-o` into a file of that name too."""
        path = self.tmp / (file or "")
        if file is not None:
            arguments = (*arguments, "-o", str(path))
        done = self._asky(*arguments)
        read = read or (as_json if "--json" in arguments else as_text)
        reads = {".json": as_json, ".html": as_html}.get(path.suffix, as_text)
        files = {"file": reads(path.read_text("utf-8"))} if file is not None else {}
        command = " ".join(["asky", *(f"'{each}'" if " " in each else each for each in arguments)])
        self._contracts.check(name, command, code=done.code, out=read(done.out), err=done.err, files=files)
        return done

    def typed(self, name: str, lines: str, *arguments: str) -> None:
        """Run a command of its own process with `lines` piped into it, and compare."""
        done = run_asky(*arguments, home=self.tmp / "home", stdin=lines, environ={"LAB_KEY": KEY})
        command = f"printf {lines!r} | asky {' '.join(arguments)}"
        out, err = as_text(done.stdout), done.stderr
        self._contracts.check(name, command, code=done.returncode, out=out, err=err, files={})


@pytest.fixture
def printed(
    home: Path, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Printed:
    asky = InProcess(home / "asky", monkeypatch, capsys)
    monkeypatch.setattr(sys, "stdin", None)
    for name in [each for each in os.environ if each.endswith("_API_KEY") or each == "OPENAI_BASE_URL"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LAB_KEY", KEY)
    return Printed(
        asky, Contracts(Path(__file__).with_name("contracts"), {tmp_path: "<tmp>", ROOT: "<asky>"}), tmp_path
    )


@pytest.fixture
def endpoint(printed: Printed) -> Iterator[Endpoint]:
    """An endpoint that the user's `models.toml` calls `scripted`."""
    with Endpoint("Nothing is scripted.") as opened:
        configured(printed.tmp, opened.base_url)
        yield opened
        assert opened.faults == []


def configured(tmp: Path, base_url: str) -> None:
    folder = tmp / "home" / "asky" / "config"
    folder.mkdir(mode=0o700)
    (folder / "models.toml").write_text(
        f'[providers.lab]\nbase_url = "{base_url}"\napi_key_env = "LAB_KEY"\n'
        '[models.scripted]\nprovider = "lab"\nid = "test-model"\ncontext_tokens = 128000\n'
        "input_price = 10.0\noutput_price = 100.0\n"
    )


def cites(text: str) -> Callable[[Request], Answer]:
    """An answer with `{key}` replaced by the key of the passage that speaks of the moon."""

    return lambda request: Answer(text.replace("{key}", about_moon(request)), usage=USED)


def about_moon(request: Request) -> str:
    """The key of the passage that speaks of the moon."""
    blocks = "\n".join(str(message.get("content")) for message in request.messages).split("<passage ")
    about = next((block for block in blocks[1:] if "two high tides a day" in block), "")
    found = re.search(r"\bP[0-9a-f]{4,8}\b", about)
    return found[0] if found else "Pnone"


TWO = cites("The moon raises two high tides a day [{key}].")
SEVEN = cites("The moon raises seven high tides a day [{key}]. It is made of cheese [Pdead].")


# questions


@pytest.mark.few(1)
@pytest.mark.parametrize(("mode", "flags"), [("research", ["-r"]), ("standard", []), ("lean", ["-L"])])
def test_answers_of_the_built_in_model(printed: Printed, mode: str, flags: list[str]) -> None:
    ask = [*flags, "-d", printed.docs]
    printed(f"quoting-{mode}-plan", *ask, TIDES, "--dry-run", "--json")
    printed(f"quoting-{mode}-json", *ask, TIDES, "--json")
    printed(f"quoting-{mode}-stream", *ask, TIDES, "--json-stream", read=as_events)
    printed(f"quoting-{mode}-text", *ask, TIDES)
    printed(f"quoting-{mode}-no-answer", *ask, PAINTER, "--json")


@pytest.mark.few(1)
@pytest.mark.parametrize(("mode", "flags"), [("research", ["-r"]), ("standard", []), ("lean", ["-L"])])
def test_answers_of_a_model_behind_an_endpoint(
    printed: Printed, endpoint: Endpoint, mode: str, flags: list[str]
) -> None:
    ask = [*flags, "-d", printed.docs, "-m", "scripted"]
    replies = [TWO] if mode == "lean" else [SEARCH, TWO]
    printed(f"writing-{mode}-plan", *ask, TIDES, "--dry-run", "--json")
    assert endpoint.requests == []
    for form, read in (("json", as_json), ("json-stream", as_events)):
        endpoint.play(*replies)
        printed(f"writing-{mode}-{form}", *ask, TIDES, f"--{form}", read=read)
    endpoint.play(*replies)
    printed(f"writing-{mode}-text", *ask, TIDES)


def test_answers_in_files(printed: Printed) -> None:
    for suffix in ("md", "html", "json"):
        printed(f"file-{suffix}", "-r", "-d", printed.docs, TIDES, file=f"answer.{suffix}")


def test_a_plan_for_a_reader(printed: Printed, endpoint: Endpoint) -> None:
    printed("plan-text", "-r", "-d", printed.docs, "-m", "scripted", TIDES, "--dry-run")


@pytest.mark.extended
def test_what_its_sources_do_not_support(printed: Printed, endpoint: Endpoint) -> None:
    ask = ["-r", "-d", printed.docs, "-m", "scripted", TIDES]
    endpoint.play(SEARCH, SEVEN)
    printed("unsupported", *ask, "--json")
    endpoint.play(SEARCH, SEVEN)
    printed("unsupported-strict", *ask, "--json", "--strict")
    endpoint.play(SEARCH, TWO)
    printed("supported-strict", *ask, "--json", "--strict")


# errors


def test_errors_have_a_code_a_message_and_an_exit_code(printed: Printed) -> None:
    printed("error-2-no-folder", "-r", "-d", "nowhere", "why?", "--json")
    printed("error-2-flag", "-r", "--no-such-flag", "why?", "--json")
    printed("error-2-nothing-to-answer-from", "-r", "why?", "--json")
    printed("error-2-suffix", "-r", "-d", printed.docs, "why?", "--json", "-o", "answer.docx")
    printed("error-2-text", "-r", "-d", "nowhere", "why?")
    printed("error-2-why", "why", "1", "--json")
    printed("error-2-no-run", "runs", "show", "2020", "--json")
    printed("error-2-no-session", "session", "show", "nobody", "--json")
    printed("error-2-nothing-to-resume", "runs", "resume", "--json")
    printed("error-3-model", "-r", "-d", printed.docs, "-m", "gpt-99", "why?", "--json")
    printed("error-3-stream", "-r", "-d", printed.docs, "-m", "gpt-99", "why?", "--json-stream", read=as_events)
    printed("error-10-turns", "-r", "-d", printed.docs, NILE, "--max-turns", "1", "--json")


def test_errors_of_an_endpoint(printed: Printed, endpoint: Endpoint) -> None:
    ask = ["-r", "-d", printed.docs, "-m", "scripted", TIDES]
    for code, kind in ((4, "auth"), (6, "quota"), (8, "bad_request")):
        endpoint.play(Problem(kind))
        printed(f"error-{code}-endpoint", *ask, "--json")
    endpoint.play(Problem("auth"))
    printed("error-4-stream", *ask, "--json-stream", read=as_events)
    endpoint.play(SEARCH, Answer(calls=SEARCH.calls, usage=Usage(60_000, 10)), TWO)
    printed("error-10-tokens", *ask, "--max-tokens", "50000", "--json")


def test_an_endpoint_that_is_not_there(printed: Printed) -> None:
    with Endpoint("Nobody hears this.") as gone:
        configured(printed.tmp, gone.base_url)
    printed("error-5-endpoint", "-r", "-d", printed.docs, "-m", "scripted", TIDES, "--json")


# documents


def test_the_corpus_and_searches_in_it(printed: Printed) -> None:
    printed("corpus-add", "corpus", "add", printed.docs, "--json")
    objects = printed.tmp / "objects.jsonl"
    objects.write_text('{"id": "n1", "text": "The numbat eats termites.", "title": "Numbats"}\n')
    printed("corpus-add-objects", "corpus", "add", "--jsonl", str(objects), "--collection", "animals", "--json")
    printed("corpus-list", "corpus", "list", "--json")
    printed("corpus-collections", "corpus", "list", "--collections", "--json")
    printed("corpus-status", "corpus", "status", "--json")
    printed("search", "search", "moon and sun", "--json")
    printed("search-one", "search", "What eats termites?", "--collection", "animals", "-k", "1", "--json")
    batch = printed.tmp / "batch.jsonl"
    batch.write_text('{"id": 1, "query": "moon tides"}\n{"id": "b", "query": "yeast"}\n')
    printed("search-batch", "search", "--batch", str(batch), "-k", "1", read=as_json_lines)
    batch.write_text('{"id": 1, "query": "moon tides"}\n{"id": "b"}\n')
    printed("search-batch-damaged", "search", "--batch", str(batch), "-k", "1", read=as_json_lines)
    batch.write_text("not json\n")
    printed("error-1-nothing-added", "corpus", "add", "--jsonl", str(batch), "--json")
    (printed.tmp / "docs" / "bread.txt").unlink()
    (printed.tmp / "docs" / "rivers.html").write_text("<p>The Rhine is 1,233 kilometres long.</p>")
    (printed.tmp / "docs" / "empty.txt").write_text("")
    printed("corpus-sync", "corpus", "sync", "--json")
    printed("corpus-sync-all", "corpus", "sync", "--all", "--json")
    printed("corpus-list-afterwards", "corpus", "list", "--json")


def test_pages_that_were_read(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    paragraph = "The moon raises two high tides a day, which sailors on every coast of the ocean know by heart."
    with Site() as site:
        page = f"<html><head><title>Tides</title></head><body><article><h1>Tides</h1><p>{paragraph}</p></article>"
        site.page("/tides", html=page)
        for name, value in (("ALLOW_PRIVATE", f'["{site.authority}"]'), ("HOST_GAP_S", "0"), ("ROBOTS", "false")):
            monkeypatch.setenv(f"ASKY_NETWORK__{name}", value)
        printed("cache-empty", "cache", "list", "--json")
        printed("web-answer", f"What raises two high tides a day? {site.url('/tides')}", "--json")
        printed("cache-list", "cache", "list", "--json")
        printed("cache-stats", "cache", "stats", "--json")
        printed("cache-show", "cache", "show", site.url("/tides"), "--json")


# what is kept


def test_a_run_is_shown_exported_and_played_again(printed: Printed) -> None:
    run = printed.quietly("-r", "-d", printed.docs, TIDES, "-s", "sea", "--json").json["run"]
    printed("why", "why", "1", "--run", run, "--json")
    printed("why-text", "why", "1")
    printed("runs-list", "runs", "list", "--json")
    printed("runs-show", "runs", "show", run, "--json")
    printed("runs-export", "runs", "export", run, read=as_evidence)
    reads = {"md": as_text, "html": as_html, "bibtex": as_text, "ris": as_text, "csl": as_json}
    for form, read in reads.items():
        printed(f"runs-export-{form}", "runs", "export", run, "--format", form, read=read)
    bundle = str(printed.tmp / "run.zip")
    assert printed.quietly("runs", "export", run, "--bundle", bundle).code == 0
    printed("runs-verify", "runs", "verify", bundle, "--json")
    printed("runs-replay", "runs", "replay", run, "--json")
    printed("runs-replay-text", "runs", "replay", run)


@pytest.mark.extended
def test_a_failed_run_goes_on(printed: Printed, endpoint: Endpoint) -> None:
    endpoint.play(SEARCH, Problem("auth"))
    failed = printed.quietly("-r", "-d", printed.docs, "-m", "scripted", "-s", "sea", TIDES, "--json")
    assert failed.code == 4
    printed("failed-runs-list", "runs", "list", "--json")
    printed("failed-runs-show", "runs", "show", "--json")
    endpoint.play(TWO)
    printed("runs-resume", "runs", "resume", "--json")
    printed("resumed-runs-list", "runs", "list", "--json")
    printed("resumed-runs-replay", "runs", "replay", "--json")
    printed("error-2-resume-finished", "runs", "resume", "--json")


def test_a_session_and_its_findings(printed: Printed, endpoint: Endpoint) -> None:
    def keeps(request: Request) -> Answer:
        finding = {"finding": "The moon raises two high tides a day.", "passages": [about_moon(request)]}
        return Answer(calls=(Call("save_finding", finding),), usage=USED)

    again = cites("As said, the moon raises two high tides a day [{key}].")
    for question, replies in ((TIDES, [SEARCH, keeps, TWO]), ("Once more, please?", [again])):
        endpoint.play(*replies)
        printed.quietly("-r", "-d", printed.docs, "-m", "scripted", "-s", "sea", question, "--json")
    printed("session-list", "session", "list", "--json")
    printed("session-show", "session", "show", "sea", "--json")
    printed("session-show-text", "session", "show", "sea")
    printed("session-export", "session", "export", "sea", "--format", "json", read=as_evidence)
    printed("session-export-md", "session", "export", "sea", "--format", "md")
    printed("memory-add", "memory", "add", "Bread is baked at 230 degrees.", "--tag", "kitchen", "--json")
    printed("memory-list", "memory", "list", "--json")
    printed("memory-search", "memory", "search", "baking bread", "--json")
    printed("memory-export", "memory", "export", read=as_json_lines)
    printed("memory-export-md", "memory", "export", "--format", "md")


@pytest.mark.extended
def test_a_conversation_through_a_pipe(printed: Printed, endpoint: Endpoint) -> None:
    again = cites("As said, the moon raises two high tides a day [{key}].")
    endpoint.play(SEARCH, TWO, again)
    lines = f"{TIDES}\n/why 1\nOnce more, please?\n/model\n/no-such-command\n"
    arguments = ("chat", "-d", printed.docs, "-m", "scripted", "-s", "sea")
    printed.typed("chat", lines, *arguments)


# the installation


def test_models_and_configuration(printed: Printed, endpoint: Endpoint) -> None:
    printed("models-list", "models", "list", "--json", read=by("alias", "models"))
    printed("models-show", "models", "show", "scripted", "--json")
    printed("models-show-built-in", "models", "show", "extractive", "--json")
    printed("config-show", "config", "show", "--json", read=by("key", "values"))
    printed("config-path", "config", "path")
    printed("config-validate", "config", "validate")


def test_the_doctor(printed: Printed) -> None:
    """Only what it says of a fresh installation is the same everywhere: versions and sizes are not."""
    printed.quietly("-r", "-d", printed.docs, TIDES)

    def read(text: str) -> object:
        value = by("name", "checks")(text)
        for name in ("Python", "SQLite", "readers", "disk", "sizes"):
            del value["checks"][name]["message"], value["checks"][name]["state"], value["checks"][name]["hint"]
        for name, varying in (("store", r"schema \d+"), ("vectors", r"\(.*\)"), ("embedding", r"\d+ ms \(.*\)")):
            value["checks"][name]["message"] = re.sub(varying, "...", value["checks"][name]["message"])
        return value | {"notes": None}

    printed("doctor", "doctor", "--json", read=read)
