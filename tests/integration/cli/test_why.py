"""`asky why`: a citation is opened to the passage that it rests on, and checked again."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.citation_lookup import passage_context
from asky.storage.runs import Run
from asky.values import Evidence, Page, Section, Span
from tests.support.in_process import InProcess
from tests.support.stores import MILL, TIDES, FilledStore

QUOTE = "Sun and moon pull together at new moon."
SHA256 = hashlib.sha256(TIDES.encode()).hexdigest()


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    return InProcess(home, monkeypatch, capsys)


def answer(
    home: Path, tides: Path, *, text: str = "They pull together at new moon [1].", quoted: str | None = None
) -> str:
    """A store with one answered run about the tides; returns the run's id."""
    with FilledStore(home) as store:
        document = store.add_text(
            tides, TIDES, title="Tides", sections=[Section("Tides", 1, 0, len(TIDES))], pages=[Page(6, "iv", 0, 300)]
        )

        def cited(run: Run) -> Sequence[Evidence]:
            passage = store.evidence(
                run, tides, document, QUOTE, title="Tides", section="Spring tides", page=6, page_label="iv"
            )
            return [passage]

        return store.answered("When do they pull together?", text, cited, quoted=quoted)


def test_the_passage_is_shown_in_its_context_with_its_place_and_hash(asky: InProcess, tmp_path: Path) -> None:
    tides = tmp_path / "tides.md"
    run_id = answer(asky.home, tides)
    done = asky("why", "1")
    assert done.code == 0
    start = TIDES.index(QUOTE)
    assert "[1] Tides, Spring tides, p. iv (PDF 6)" in done.out
    assert str(tides) in done.out
    assert f"characters [{start}, {start + len(QUOTE)}) of the text with sha256 {SHA256}" in done.out
    assert run_id in done.out
    assert f"the earth turns below it.\n\n## Spring tides\n>>>\n{QUOTE}\n<<<\nThe range of the tide" in done.out
    assert "checked:" in done.out
    assert "since" not in done.out
    assert done.err == ""


def test_the_only_citation_needs_no_number(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path / "tides.md")
    assert asky("why").out == asky("why", "1").out
    assert asky("why", "--json").json == asky("why", "1", "--json").json


def test_several_citations_are_listed_without_a_number(asky: InProcess, tmp_path: Path) -> None:
    tides, mill = tmp_path / "tides.md", tmp_path / "mill.md"
    with FilledStore(asky.home) as store:
        documents = [(tides, TIDES, QUOTE, "Tides"), (mill, MILL, MILL.split(". ")[0], "The mill")]
        ids = [store.add_text(path, text, title=title) for path, text, _, title in documents]

        def cited(run: Run) -> Sequence[Evidence]:
            return [
                store.evidence(run, path, id_, quote, title=title)
                for (path, _, quote, title), id_ in zip(documents, ids, strict=True)
            ]

        store.answered("What pulls, and what grinds?", "The sun pulls [1]. The mill grinds [2].", cited)
    listed = asky("why")
    assert listed.code == 0
    assert f"[1] Tides\n    {QUOTE}\n[2] The mill\n" in listed.out
    assert "`asky why N` shows the passage" in listed.err
    refused = asky("why", "--json")
    assert refused.code == 2
    assert "name one of 1 to 2" in refused.err


def test_the_json_holds_what_a_script_needs_to_check_it(asky: InProcess, tmp_path: Path) -> None:
    run_id = answer(asky.home, tmp_path / "tides.md")
    found = asky("why", "1", "--json").json
    assert found["schema"] == "asky.why/1"
    assert found["run"] == run_id
    citation = found["citation"]
    assert TIDES[citation["start"] : citation["end"]] == citation["quote"] == found["passage"] == QUOTE
    assert found["sha256"] == citation["sha256"] == SHA256
    assert found["checks"] == {"quote": True, "sha256": True}
    assert found["source_now"] == "same"
    assert TIDES.endswith(found["passage"] + found["after"])
    assert found["before"] + found["passage"] + found["after"] == TIDES


def test_the_context_is_cut_between_words(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path / "tides.md")
    found = asky("why", "1", "--context", "8", "--json").json
    assert (found["before"].strip(), found["after"].strip()) == ("tides", "The")
    assert asky("why", "1", "--context", "0", "--json").json["before"] == ""
    printed = asky("why", "1", "--context", "8").out
    assert "… tides\n>>>" in printed
    assert "<<<\nThe …" in printed


def test_on_a_terminal_the_passage_is_bold_in_running_text(
    asky: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(asky.home, tmp_path / "tides.md")
    monkeypatch.setenv("ASKY_UI__COLOR", "always")
    assert f"## Spring tides\n\n\x1b[1m{QUOTE}\x1b[0m The range" in asky("why", "1").out


def test_the_words_that_the_answer_quotes_are_shown(
    asky: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quoted = "moon pull together at new moon"
    answer(asky.home, tmp_path / "tides.md", quoted=quoted)
    start = QUOTE.index(quoted)
    found = asky("why", "1", "--json").json
    assert found["quoted"] == [{"start": start, "end": start + len(quoted)}]
    assert f"<<<\nThe range of the tide is then largest.\nquoted: “{quoted}”\n" in asky("why", "1").out
    monkeypatch.setenv("ASKY_UI__COLOR", "always")
    assert f"\x1b[1mSun and \x1b[0m\x1b[1;4m{quoted}\x1b[0m\x1b[1m.\x1b[0m The range" in asky("why", "1").out


def test_a_given_run_is_opened_by_the_beginning_of_its_id(asky: InProcess, tmp_path: Path) -> None:
    first = answer(asky.home, tmp_path / "tides.md")
    with FilledStore(asky.home) as store:
        mill = tmp_path / "mill.txt"
        document = store.add_text(mill, MILL)
        quote = "The mill on the hill burned down in 1871."
        store.answered("When?", "In 1871 [1].", lambda run: [store.evidence(run, mill, document, quote)])
    assert asky("why", "1", "--json").json["passage"].startswith("The mill")
    assert asky("why", "1", "--run", first, "--json").json["passage"] == QUOTE


def test_without_a_run_the_last_answer_that_cites_something_is_opened(asky: InProcess, tmp_path: Path) -> None:
    first = answer(asky.home, tmp_path / "tides.md")
    with FilledStore(asky.home) as store:
        last = store.answered("Who painted it?", "I could not find an answer in the sources.", lambda _run: [])
    done = asky("why", "1")
    assert (done.code, QUOTE in done.out) == (0, True)
    assert done.err == f"the last run, {last}, cites nothing; this is run {first}: “When do they pull together?”\n"
    assert asky("why").out == done.out
    quiet = asky("why", "1", "--json")
    assert (quiet.json["run"], quiet.err) == (first, "")
    refused = asky("why", "1", "--run", last)
    assert (refused.code, f"the answer of run {last} cites nothing" in refused.err) == (2, True)


def test_where_no_answer_cites_anything_that_is_said(asky: InProcess) -> None:
    with FilledStore(asky.home) as store:
        store.answered("Who painted it?", "Nobody.", lambda _run: [])
        last = store.answered("Who wrote it?", "Nobody.", lambda _run: [])
    done = asky("why", "1")
    assert (done.code, f"the answer of run {last} cites nothing" in done.err) == (2, True)
    assert "the last run" not in done.err


def test_an_answer_keeps_its_passage_when_the_source_changes(asky: InProcess, tmp_path: Path) -> None:
    tides = tmp_path / "tides.md"
    answer(asky.home, tides)
    with FilledStore(asky.home) as store:
        store.add_text(tides, MILL, title="Tides")
    done = asky("why", "1")
    assert done.code == 0
    assert QUOTE in done.out
    assert "the source has changed" in done.out
    assert asky("why", "1", "--json").json["source_now"] == "changed"


def test_a_file_that_is_gone_or_was_touched_is_said(asky: InProcess, tmp_path: Path) -> None:
    tides = tmp_path / "tides.md"
    answer(asky.home, tides)
    tides.write_text(TIDES + "More.\n", "utf-8")
    assert asky("why", "1", "--json").json["source_now"] == "modified"
    tides.unlink()
    assert asky("why", "1", "--json").json["source_now"] == "missing"
    assert "no longer exists" in asky("why", "1").out


def test_what_reads_a_modified_file_again_is_a_command_that_does_so(
    asky: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    tides = tmp_path / "the sea" / "tides.md"
    tides.parent.mkdir()
    answer(asky.home, tides)
    tides.write_text(TIDES + "More.\n", "utf-8")
    other = f"folder {tides.parent}"
    with FilledStore(asky.home) as store:
        store.corpus.add_root(store.collection, str(tides.parent)[:-1])  # of a folder beside it
        store.corpus.add_root(store.corpus.collection(other, create=True), str(tides))
    done = asky("why", "1")
    told = f"`asky corpus sync --collection '{other}'` reads it again"
    assert f"the file was modified after it was read; {told}" in done.out
    command = done.out.split("`")[1]
    assert asky(*shlex.split(command)[1:]).code == 0
    assert asky("why", "1", "--json").json["source_now"] == "changed"


@pytest.mark.parametrize("root", ["/", ".", "tides.md"])
def test_a_modified_file_of_the_default_collection_is_read_again_by_a_plain_sync(
    asky: InProcess, tmp_path: Path, root: str
) -> None:
    tides = tmp_path / "tides.md"
    answer(asky.home, tides)
    with FilledStore(asky.home) as store:
        store.corpus.add_root(store.collection, os.path.normpath(tmp_path / root))
    tides.write_text(TIDES + "More.\n", "utf-8")
    assert "read; `asky corpus sync` reads it again" in asky("why", "1").out


def test_a_modified_file_that_no_collection_follows_is_read_again_where_it_is_named(
    asky: InProcess, tmp_path: Path
) -> None:
    tides = tmp_path / "tides.md"
    answer(asky.home, tides)
    tides.write_text(TIDES + "More.\n", "utf-8")
    assert f"read; a question with -d {tides} reads it again" in asky("why", "1").out


def test_an_answer_keeps_its_passage_when_its_collection_is_removed(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path / "tides.md")
    with FilledStore(asky.home) as store:
        store.corpus.remove_collection(store.collection)
    done = asky("why", "1", "--json")
    assert done.code == 0
    assert done.json["source_now"] == "removed"
    assert done.json["passage"] == QUOTE


def test_a_stored_text_that_was_tampered_with_fails_the_check(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path / "tides.md")
    with FilledStore(asky.home) as store, store.database.write() as connection:
        connection.execute("UPDATE text_block SET text = replace(text, 'together', 'asunders')")
    done = asky("why", "1")
    assert done.code == 1
    assert done.out.count("FAILED") == 2
    assert "checked:" not in done.out
    report = asky("why", "1", "--json")
    assert report.code == 1
    assert report.json["checks"] == {"quote": False, "sha256": False}


def test_the_hash_is_made_from_the_text_and_not_read_from_a_column(asky: InProcess, tmp_path: Path) -> None:
    answer(asky.home, tmp_path / "tides.md")
    with FilledStore(asky.home) as store, store.database.write() as connection:
        connection.execute("UPDATE text_block SET text = text || 'A line that nobody read.'")
    report = asky("why", "1", "--json")
    assert report.code == 1
    assert report.json["checks"] == {"quote": True, "sha256": False}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["why", "2"], "has no citation 2"),
        (["why", "0"], "'0' names no citation"),
        (["why", "one"], "'one' names no citation"),
        (["why", "1", "--run", "1999"], "there is no run '1999'"),
        (["why", "1", "--run", "\udcff"], "there is no run '?'"),
    ],
)
def test_a_citation_that_is_not_there_is_a_usage_error(
    asky: InProcess, tmp_path: Path, arguments: list[str], message: str
) -> None:
    answer(asky.home, tmp_path / "tides.md")
    done = asky(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert asky(*arguments, "--json").error["code"] == "usage"


def test_without_runs_without_an_answer_and_without_citations_it_says_so(asky: InProcess, tmp_path: Path) -> None:
    done = asky("why", "1")
    assert done.code == 2
    assert "there are no runs yet" in done.err
    with FilledStore(asky.home) as store:
        store.answered("Why?", "Nothing was found.", lambda _: [], stopped_by="no_evidence")
    assert "cites nothing" in asky("why", "1").err
    with FilledStore(asky.home) as store:
        run = store.runs.start(question="?", mode="research", model="m", session_id=None)
        store.runs.finish(run.id, "failed", None)
    done = asky("why", "1")
    assert done.code == 2
    assert "has no answer: its status is failed" in done.err


def test_escapes_in_a_source_do_not_reach_the_terminal(asky: InProcess, tmp_path: Path) -> None:
    evil = tmp_path / "evil.txt"
    text = "Before. \x1b]0;owned\x07The sea\x1b[2J rises. After.\x9b31m"
    with FilledStore(asky.home) as store:
        document = store.add_text(evil, text, title="\x1b[31mred")
        quote = "The sea\x1b[2J rises."
        store.answered(
            "\x1b[5mWhat?",
            "It rises [1].",
            lambda run: [store.evidence(run, evil, document, quote, title="\x1b[31mred")],
        )
    done = asky("why", "1")
    assert "The sea rises." in done.out
    assert not set(done.out) & {"\x1b", "\x07", "\x9b"}
    assert asky("why", "1", "--json").json["passage"] == quote


@given(
    text=st.text(alphabet="ab é\n", max_size=60),
    first=st.integers(0, 60),
    second=st.integers(0, 60),
    chars=st.integers(0, 20),
)
def test_surroundings_lie_beside_the_span_and_split_no_word(text: str, first: int, second: int, chars: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    around = passage_context(text, Span(start, end), chars)
    assert text[:start].endswith(around.before)
    assert text[end:].startswith(around.after)
    assert len(around.before) <= chars
    assert len(around.after) <= chars
    assert around.cut_before == (start > chars)
    assert around.cut_after == (len(text) - end > chars)
    left = text[: start - len(around.before)]
    if left and around.before and any(map(str.isspace, around.before)):
        assert left[-1].isspace() or around.before[0].isspace()
    right = text[end + len(around.after) :]
    if right and around.after and any(map(str.isspace, around.after)):
        assert right[0].isspace() or around.after[-1].isspace()
