"""`asky notes`: a vault on the command line. Words alone decide what is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.asky_command import run_asky
from tests.support.in_process import InProcess


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Recipes").mkdir(parents=True)
    (folder / "Recipes" / "Rye.md").write_text("---\ntitle: Rye bread\ntags: [grain]\n---\nMix flour and water.\n")
    (folder / "Index.md").write_text("My notes: [[Rye]] and [[Oats]].\n\n![[Rye]]\n")
    (folder / "map.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture
def asky(tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setenv("ASKY_NOTES__VAULT", str(vault))
    monkeypatch.setattr(sys, "stdin", None)
    return command


def test_a_vault_is_indexed_searched_listed_and_read(asky: InProcess, vault: Path) -> None:
    done = asky("notes", "index")
    assert (done.code, done.out) == (0, "")
    assert "2 of 2 files searchable (2 indexed)" in done.err
    assert asky("notes").out == "Index.md\nRecipes/Rye.md  Rye bread  #grain\n"
    assert asky("notes", "--tag", "grain").out == asky("notes", "list", "--folder", "Recipes").out
    found = asky("notes", "find", "mix", "flour", "--mode", "keyword")
    assert found.out == "1. Recipes/Rye.md  1.000\n   Mix flour and water.\n\n"
    assert asky("notes", "read", "Index").out == "My notes: [[Rye]] and [[Oats]].\n\nMix flour and water.\n"
    assert asky("notes", "links", "Index").out == (
        "Index.md: 3 links, 0 backlinks\n  links to Recipes/Rye.md\n  links to Oats (no such note)\n"
        "  embeds Recipes/Rye.md\n"
    )
    assert asky("notes", "links", "rye").out == ("Recipes/Rye.md: 0 links, 1 backlink\n  linked from Index.md\n")
    (vault / "Oats.md").write_text("Soak oats.\n")
    assert "1. Oats.md" in asky("notes", "find", "oats").out  # what is new is found without a command


def test_json_has_the_notes_the_hits_the_text_and_the_links(asky: InProcess) -> None:
    indexed = asky("notes", "index", "--no-embed", "--json").json
    assert (indexed["schema"], indexed["reports"][0]["verdicts"]) == ("asky.added/1", {"indexed": 2})
    listed = asky("notes", "list", "--json").json
    assert (listed["schema"], listed["notes"][1]) == (
        "asky.notes/1",
        {"path": "Recipes/Rye.md", "title": "Rye bread", "aliases": [], "tags": ["grain"]},
    )
    found = asky("notes", "find", "flour", "--json").json
    assert (found["schema"], found["query"], found["mode"]) == ("asky.note_hits/1", "flour", "hybrid")
    assert found["hits"] == [
        {"path": "Recipes/Rye.md", "title": "Rye bread", "heading": None, "snippet": "Mix flour and water.", "score": 1}
    ]
    assert asky("notes", "read", "Rye", "--json").json == {
        "schema": "asky.note_text/1",
        "path": "Recipes/Rye.md",
        "text": "---\ntitle: Rye bread\ntags: [grain]\n---\nMix flour and water.\n",
        "unread": [],
        "unread_count": 0,
    }
    links = asky("notes", "links", "Rye", "--json").json
    assert (links["schema"], links["links"], [each["path"] for each in links["backlinks"]]) == (
        "asky.note_links/1",
        [],
        ["Index.md"],
    )


def test_what_was_not_read_of_notes_is_named_where_it_matters(asky: InProcess, vault: Path) -> None:
    (vault / "Recipes" / "Rye.md").write_text("Mix flour and water.\n\n%% not [[Oats]]\n\nAnd salt.\n")
    (vault / "Broken.md").write_bytes(b"%PDF-1.7 no note at all")
    (vault / "Index.md").write_text("My notes: [[Rye]]\n\n![[Rye]]\n\n![[Broken]]\n")
    part = {
        "path": "Recipes/Rye.md",
        "verdict": "partial",
        "part": "text from line 3",
        "message": "a comment that begins there is never closed",
    }
    for command in (["index"], ["list"], ["find", "flour"], ["links", "Rye"], ["links", "Index"]):
        made = asky("notes", *command, "--json").json
        assert made["unread_count"] == 2, command
        assert part in made["unread"], command
    read = asky("notes", "read", "Index", "--json").json
    assert [part] == [each for each in read["unread"] if "part" in each]
    assert [(each["path"], each["verdict"]) for each in read["unread"]][1:] == [("Broken.md", "unsupported")]
    assert asky("notes", "read", "Rye", "--json").json["unread"] == [part]
    line = "Recipes/Rye.md: 1 part was not read: text from line 3 (a comment that begins there is never closed)"
    for command in (["list"], ["find", "flour"], ["read", "Rye"], ["read", "Index"], ["links", "Rye"]):
        assert asky("notes", *command).err.count(line) == 1, command
    assert line not in asky("notes", "links", "Index").err
    for command in (["list"], ["links", "Broken.md"], ["find", "zeppelins"]):
        assert "not read: Broken.md (unsupported: " in asky("notes", *command).err, command


def test_without_a_vault_the_command_that_names_one_is_named(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASKY_NOTES__VAULT")
    for arguments in ([], ["index"], ["find", "x"], ["read", "x"]):
        done = asky("notes", *arguments)
        assert (done.code, done.err) == (
            3,
            "asky: no vault is configured\nhint: `asky config set notes.vault PATH`\n",
        )


def test_what_cannot_be_used_says_why(asky: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.md").write_text("x")
    assert "asky: ../secret.md: outside the vault\n" in asky("notes", "read", "../secret.md").err
    assert asky("notes", "read", "Barley").code == 2
    assert asky("notes", "find", " ").code == 2
    assert "no notes with the tag x" in asky("notes", "--tag", "x").err
    monkeypatch.setenv("ASKY_NOTES__VAULT", str(tmp_path / "gone"))
    gone = asky("notes")
    assert (gone.code, "no such file or folder" in gone.err, "notes.vault" in gone.err) == (2, True, True)


def test_a_name_that_is_no_text_is_printed_and_found(asky: InProcess, vault: Path) -> None:
    with open(bytes(vault) + b"/caf\xe9.md", "wb") as file:
        file.write(b"coffee")
    assert asky("notes").out.splitlines()[-1] == "caf\\xe9.md"
    assert asky("notes", "read", asky("notes", "list", "--json").json["notes"][-1]["path"]).out == "coffee\n"
    assert asky("notes", "find", "coffee", "--json").json["hits"][0]["snippet"] == "coffee"


@pytest.mark.parametrize("words", ["asky notes read", "asky notes links", "asky notes research", "asky notes undo"])
def test_the_shell_completes_the_paths_of_notes(asky: InProcess, vault: Path, words: str) -> None:
    environ = {"ASKY_HOME": str(asky.home), "ASKY_NOTES__VAULT": str(vault), "_ASKY_COMPLETE": "bash_complete"}
    environ |= {"COMP_WORDS": f"{words} Rec", "COMP_CWORD": str(len(words.split()))}
    assert run_asky(home=asky.home, environ=environ).stdout.split() == ["plain,Recipes/Rye.md"]


def test_a_topic_without_findings_is_named_in_the_terminal(asky: InProcess, vault: Path) -> None:
    (vault / "Bread.md").write_text("# Bread\n\nThe **rye flour** and the **quagga zeppelin** stand side by side.\n")
    (vault / "Flour.md").write_text("# Flour\n\nThe rye flour of the mill is ground between two stones.\n")
    done = asky("notes", "research", "Bread", "--vault-only")
    assert done.code == 0
    assert "wrote research on 1 topic into Bread.md" in done.err
    assert "nothing was found on" in done.err
    assert "quagga zeppelin”" in done.err.casefold()
