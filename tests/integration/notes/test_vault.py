"""What may be opened of a vault, and which of its files are notes, on a real file system."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from asky.errors import AskyError, SourceRefused, UsageError
from asky.notes.vault import Vault

SECRET = b"OUTSIDE-7391"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A vault, and things beside it that nobody may read."""
    vault = tmp_path / "vault"
    for folder in ("Folder/Deep", ".obsidian", ".trash"):
        (vault / folder).mkdir(parents=True)
        (vault / folder / "note.md").write_bytes(b"in a folder")
    (vault / "note.md").write_bytes(b"a note")
    (vault / ".hidden.md").write_bytes(SECRET)
    for beside in ("vault_evil", "elsewhere"):
        (tmp_path / beside).mkdir()
        (tmp_path / beside / "secret.md").write_bytes(SECRET)
    (tmp_path / "secret.md").write_bytes(SECRET)
    links = {
        "file.md": "../secret.md",
        "absolute.md": str(tmp_path / "secret.md"),
        "folder": "../elsewhere",
        "parent": "..",
        "chain.md": "file.md",
        "through.md": "parent/secret.md",
        "hidden.md": ".hidden.md",
        "settings": ".obsidian",
    }
    for name, target in links.items():
        (vault / name).symlink_to(target)
    return tmp_path


@pytest.fixture
def vault(world: Path) -> Vault:
    return Vault(world / "vault")


OUTSIDE = [
    "../secret.md",
    "../../secret.md",
    "Folder/../../secret.md",
    "Folder/../note.md",
    "./../secret.md",
    "..",
    "{world}/vault/../secret.md",
    "{world}/secret.md",
    "{world}/elsewhere/secret.md",
    "{world}/vault_evil/secret.md",
    "/secret.md/../../secret.md",
    "/etc/hostname.md",
    "/proc/self/root/{world}/secret.md",
    "~/secret.md",
    "~root/secret.md",
    "%2e%2e/secret.md",
    "..%2fsecret.md",
    "%252e%252e%252fsecret.md",
    "local://../secret.md",
    "local://%2e%2e%2fsecret.md",
    "local://%7e/secret.md",
    "file://{world}/secret.md",
    "file://{world}/vault/%2e%2e/secret.md",
    "file://evil.example/note.md",
    "..\\secret.md",
    "Folder\\..\\..\\secret.md",
    "C:\\secret.md",
    "C:/secret.md",
    "note.md\0/../secret.md",
    "note.md\0.md",
    "\ud800.md",
    "file.md",
    "absolute.md",
    "folder/secret.md",
    "parent/secret.md",
    "parent/vault/note.md",
    "chain.md",
    "through.md",
]
HIDDEN = [
    ".obsidian/note.md",
    ".OBSIDIAN/note.md",
    ".trash/note.md",
    "Folder/.obsidian/note.md",
    ".hidden.md",
    ".git/note.md",
    ".env.md",
    "hidden.md",
    "settings/note.md",
    "{world}/vault/.trash/note.md",
]


@pytest.mark.parametrize("vector", OUTSIDE)
def test_no_path_leads_out_of_the_vault(world: Path, vault: Vault, vector: str) -> None:
    with pytest.raises(SourceRefused, match="outside the vault"):
        vault.resolve(vector.replace("{world}", str(world)))


@pytest.mark.parametrize("vector", HIDDEN)
def test_hidden_and_secret_files_are_refused(world: Path, vault: Vault, vector: str) -> None:
    with pytest.raises(SourceRefused, match=r"hidden files are no notes|may hold secrets"):
        vault.resolve(vector.replace("{world}", str(world)))


@pytest.mark.parametrize(
    "vector", ["../{}", "{world}/{}", "{world}/elsewhere/{}", ".obsidian/{}", ".trash/{}", "~/{}", "parent/{}"]
)
def test_a_refusal_does_not_tell_whether_the_file_exists(world: Path, vault: Vault, vector: str) -> None:
    said = set()
    for name in ("secret.md", "note.md", "absent.md"):
        with pytest.raises(AskyError) as caught:
            vault.resolve(vector.replace("{world}", str(world)).replace("{}", name))
        said.add((type(caught.value), caught.value.message.replace(name, ""), caught.value.hint))
    assert len(said) == 1


@pytest.mark.parametrize("path", ["note.md", "./note.md", "{world}/vault/note.md", "/note.md", "vault/note.md"])
def test_a_note_is_found_by_every_spelling_of_its_place(world: Path, vault: Vault, path: str) -> None:
    note = vault.resolve(path.replace("{world}", str(world)))
    assert (note.relative, note.path, note.stem, note.folder) == ("note.md", world / "vault" / "note.md", "note", "")
    assert vault.read(note) == b"a note"
    assert vault.resolve("Folder/Deep/note.md").folder == "Folder/Deep"


def test_a_vault_in_a_hidden_folder_is_a_vault(tmp_path: Path) -> None:
    root = tmp_path / ".notes" / "vault"
    root.mkdir(parents=True)
    (root / "note.md").write_bytes(b"a note")
    vault = Vault(root)
    assert vault.resolve(str(root / "note.md")).relative == "note.md"
    assert [each.relative for each in vault.notes()] == ["note.md"]


def test_what_is_missing_or_no_text_is_said_to_be(world: Path, vault: Vault) -> None:
    for path in ("none.md", "Folder/none.md", str(world / "vault" / "none.md"), "none.m4a", "note.md/x.md"):
        with pytest.raises(UsageError, match="not found"):
            vault.resolve(path)
    (world / "vault" / "memo.m4a").write_bytes(b"sound")
    (world / "vault" / "LICENSE").write_bytes(b"text")
    (world / "vault" / "memo.md").symlink_to("memo.m4a")
    for path in ("memo.m4a", "memo.md"):
        with pytest.raises(
            UsageError, match=r"^Cannot research \.m4a file\. Only markdown/text files are supported\.$"
        ):
            vault.resolve(path)
    with pytest.raises(UsageError, match="Only markdown/text files"):
        vault.resolve("LICENSE")
    for path in ("Folder", ".", ""):
        with pytest.raises(SourceRefused, match="a folder, not a file"):
            vault.resolve(path)
    for name in ("a.MD", "b.txt", "c.Markdown"):
        (world / "vault" / name).touch()
        assert vault.resolve(name).relative == name


def test_pipes_and_closed_files_are_refused_without_waiting(world: Path, vault: Vault) -> None:
    os.mkfifo(world / "vault" / "pipe.md")
    with pytest.raises(SourceRefused, match="not a regular file"):
        vault.resolve("pipe.md")
    (world / "vault" / "loop.md").symlink_to("loop.md")
    with pytest.raises(AskyError, match="form a loop"):
        vault.resolve("loop.md")


def test_a_vault_is_a_folder(world: Path) -> None:
    for name in ("vault/note.md", "none"):
        with pytest.raises(UsageError):
            Vault(world / name)


def test_nothing_leaks_while_a_note_is_swapped_for_a_link(world: Path, vault: Vault) -> None:
    root = world / "vault"
    (root / "target.md").write_bytes(b"good")
    (root / "sub").mkdir()
    (root / "sub" / "secret.md").write_bytes(b"good")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (root / "link").symlink_to("../secret.md")
            os.replace(root / "link", root / "target.md")
            (root / "plain").write_bytes(b"good")
            os.replace(root / "plain", root / "target.md")
            os.rename(root / "sub", root / "aside")
            (root / "sub").symlink_to("../elsewhere")
            os.unlink(root / "sub")
            os.rename(root / "aside", root / "sub")

    swapper = threading.Thread(target=swap)
    swapper.start()
    outcomes = set()
    try:
        for attempt in range(2000):  # a note is opened twice: found, then read
            try:
                outcomes.add(vault.read(vault.resolve(("target.md", "sub/secret.md")[attempt % 2])))
            except AskyError:
                outcomes.add(b"refused")
    finally:
        done.set()
        swapper.join()
    assert outcomes == {b"good", b"refused"}  # both, or the race was none


def test_the_notes_are_listed_in_order_without_copies_and_hidden_ones(world: Path, vault: Vault) -> None:
    root = world / "vault"
    for name in [
        "note (Conflicted copy laptop 202607011230).md",
        "note.sync-conflict-20260701-123000-ABCDEFG.md",
        "note (Ann's conflicted copy 2026-07-01).md",
        "note (conflicted copy 2026-07-01 123000).txt",
        "picture.png",
        "board.canvas",
    ]:
        (root / name).touch()
    for name in ["B.md", "a.txt", "Ärger.markdown", "On a conflicted copy.md", "Zoe (conflicted).md"]:
        (root / name).touch()
    found = vault.notes()
    assert [each.relative for each in found] == [
        "B.md",
        "Folder/Deep/note.md",
        "On a conflicted copy.md",
        "Zoe (conflicted).md",
        "a.txt",
        "note.md",
        "Ärger.markdown",
    ]
    assert vault.notes() == found
