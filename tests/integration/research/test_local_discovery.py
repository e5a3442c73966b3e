from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from asky.errors import SourceError, SourceRefused
from asky.research.local.discovery import DiscoveredFile, Unread, discover
from asky.research.local.files import LocalRoots


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def look(root: Path, *, recursive: bool = True, target: str | None = None) -> tuple[list[str], dict[str, str]]:
    """The files found, in order; and the verdict and reason of the rest, by name (with the count, where it counts)."""
    found, unread = [], {}
    for item in discover(LocalRoots([root]), target, recursive=recursive):
        if isinstance(item, DiscoveredFile):
            found.append(item.file.relative)
        else:
            count = f" x{item.count}" if item.count > 1 else ""
            unread[item.name] = f"{item.verdict}: {item.reason}{count}"
    return found, unread


def test_a_tree_is_found_depth_first_in_the_order_of_the_names(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/b/c.md", "B.md", "é.md", "c.md")
    assert look(tmp_path) == (["B.md", "a/b/c.md", "a/z.md", "b.md", "c.md", "é.md"], {})


def test_what_is_found_can_be_opened_and_carries_its_state(tmp_path: Path) -> None:
    write(tmp_path, "sub/a.md")
    roots = LocalRoots([tmp_path])
    (item,) = discover(roots, recursive=True)
    assert isinstance(item, DiscoveredFile)
    with roots.open_file(item.file) as opened:
        assert opened.file == item.file
        assert opened.stat == item.stat
        assert opened.read(100) == b"sub/a.md"


def test_one_level_finds_the_folders_own_files_and_counts_the_folders(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x/b.md", "y/c.md", "docs/d.md", "docs/in/e.md")
    assert look(tmp_path, recursive=False) == (["a.md"], {"docs": "skipped: folders below this one x3"})
    assert look(tmp_path, recursive=False, target="local://docs") == (
        ["docs/d.md"],
        {"docs/in": "skipped: folders below this one"},
    )


def test_a_target_that_is_no_folder_beneath_the_roots_is_refused_before_the_walk(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    roots = LocalRoots([tmp_path])
    for target in ("a.md", "none", "../", "/etc", ".git"):
        with pytest.raises(SourceError):
            discover(roots, target, recursive=True)


def test_ignore_files_hold_where_they_lie_and_below(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "a.md", "out/x.md", "sub/b.log", "sub/keep.log", "sub/c.tmp", "sub/deep/d.tmp", "e.tmp")
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")
    (tmp_path / "sub" / ".gitignore").write_bytes("\ufeff*.tmp\r\n!keep.log\r\n".encode())
    found, unread = look(tmp_path)
    assert found == ["a.md", "e.tmp", "sub/keep.log"]
    assert unread["a.log"] == "skipped: ignored by .gitignore or .askyignore x5"


def test_the_rules_above_a_folder_hold_when_it_is_looked_into_alone(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/a.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    assert look(tmp_path, target="docs")[0] == ["docs/a.md"]


def test_own_ignore_file_overrides_git_and_git_overrides_its_exclude_file(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "c.md")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("a.md\nb.md\nc.md\n")
    (tmp_path / ".gitignore").write_text("!b.md\n!c.md\n")
    (tmp_path / ".askyignore").write_text("c.md\n")
    assert look(tmp_path)[0] == ["b.md"]


def test_an_ignore_file_that_is_no_file_is_no_obstacle(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "elsewhere/rules", "x/b.md")
    (tmp_path / "elsewhere" / "rules").write_text("*\n")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / ".askyignore").symlink_to("elsewhere/rules")
    (tmp_path / "x" / ".gitignore").mkdir()
    assert look(tmp_path)[0] == ["a.md", "elsewhere/rules", "x/b.md"]


def test_caches_and_version_control_are_counted_and_secrets_are_named(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.md",
        ".git/config",
        "node_modules/x/readme.md",
        "x/__pycache__/y.md",
        ".venv/z.md",
        ".hg/a",
        "x/.svn/a",
    )
    write(tmp_path, ".env", "deploy/server.pem", ".ssh/id_rsa", "x/.obsidian/app.json", "id_card_rules.md")
    write(tmp_path, ".hidden.md", ".cache/note.md", ".github/workflows/ci.yml")
    found, unread = look(tmp_path)
    assert found == [".github/workflows/ci.yml", "a.md", "id_card_rules.md"]
    assert unread == {
        ".env": "refused: .env* may hold secrets",
        ".ssh": "refused: .ssh/ may hold secrets",
        "deploy/server.pem": "refused: *.pem may hold secrets",
        "x/.obsidian": "refused: .obsidian/ may hold secrets",
        ".git": "skipped: caches and version control x6",
        ".cache": "skipped: hidden x2",
    }


def test_the_folder_that_was_saved_beside_a_page_belongs_to_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        "Page.html",
        "page_files/frame.html",
        "page_files/deep/a.md",
        "a.htm",
        "a-Dateien/b.html",
        "a_fichiers/c.md",
    )
    write(tmp_path, "b_files/d.md", "c/page_files/e.md", "c/page.txt", "d.html", "d/f.md", "_files/g.md", "e.files")
    assert look(tmp_path) == (
        [
            "Page.html",
            "_files/g.md",
            "a.htm",
            "b_files/d.md",
            "c/page.txt",
            "c/page_files/e.md",
            "d/f.md",
            "d.html",
            "e.files",
        ],
        {"a-Dateien": "skipped: belongs to a saved web page x3"},
    )
    assert look(tmp_path, target="local://page_files")[0] == ["page_files/deep/a.md", "page_files/frame.html"]


def test_own_files_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "store/x.md", "config.md")
    roots = LocalRoots([tmp_path], denied=[tmp_path / "store", tmp_path / "config.md"])
    items = list(discover(roots, recursive=True))
    assert [item.file.relative for item in items if isinstance(item, DiscoveredFile)] == ["a.md"]
    assert {item.name: item.verdict for item in items if isinstance(item, Unread)} == {
        "config.md": "refused",
        "store": "refused",
    }


def test_links_are_read_once_or_named(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, "outside.md")
    write(root, "a.md", "docs/b.md", "docs/hidden/.c.md")
    (root / "again.md").symlink_to("docs/b.md")
    (root / "unhidden.md").symlink_to("docs/hidden/.c.md")
    (root / "out.md").symlink_to("../outside.md")
    (root / "absolute.md").symlink_to(root / "a.md")
    (root / "broken.md").symlink_to("none.md")
    (root / "loop.md").symlink_to("loop.md")
    (root / "docs" / "parent").symlink_to("..")
    found, unread = look(root)
    assert found == ["a.md", "docs/b.md", "docs/hidden/.c.md"]
    assert unread.pop("loop.md").startswith("failed: ")
    assert unread == {
        "absolute.md": "refused: outside the configured folders",
        "again.md": "skipped: links to files that were found themselves",
        "broken.md": "failed: no such file, or a broken link",
        "docs/hidden/.c.md": "skipped: hidden",
        "docs/parent": "skipped: a link to a folder, which is not followed",
        "out.md": "refused: outside the configured folders",
    }


def test_pipes_sockets_and_devices_are_named_without_opening_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "fifo.md")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")  # the path of a socket is at most 108 bytes long
        assert look(tmp_path) == (
            ["a.md"],
            {
                "fifo.md": "refused: not a regular file: a FIFO",
                "socket.md": "refused: not a regular file: a socket",
            },
        )


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
def test_odd_names_are_found_and_shown_escaped(tmp_path: Path) -> None:
    for name in (b"caf\xe9.md", b"new\nline.md", b"back\\slash.md", b"~tilde.md", b"-rf.md", b" .md", b"\xff\xfe"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as written:
            written.write(name)
    os.mkfifo(os.fsencode(tmp_path) + b"/\x1b[31mred.md")
    roots = LocalRoots([tmp_path])
    items = list(discover(roots, recursive=True))
    found = [item.file for item in items if isinstance(item, DiscoveredFile)]
    assert len(found) == 7
    for file in found:
        with roots.open_file(file) as opened:
            assert opened.read(100) == os.fsencode(file.relative)
        assert file.shown.isprintable()
    assert [item.name for item in items if isinstance(item, Unread)] == ["\\x1b[31mred.md"]


def test_a_folder_that_cannot_be_read_is_named_and_the_rest_is_found() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, "a.md", "closed/b.md", "d.md")
        os.chmod(root, 0o755)
        (root / "closed").chmod(0o000)
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)  # root may read everything
        try:
            assert look(root) == (["a.md", "d.md"], {"closed": "failed: permission denied"})
        finally:
            os.seteuid(before)
            (root / "closed").chmod(0o755)


def test_a_tree_deeper_than_any_path_ends_with_a_name(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(17):  # the kernel takes paths of 4,096 bytes
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    items = list(discover(LocalRoots([tmp_path]), recursive=True))
    assert isinstance(items[0], DiscoveredFile)
    assert isinstance(items[-1], Unread)
    assert (items[-1].verdict, len(items)) == ("failed", 2)


def test_files_of_overlapping_roots_come_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "docs/b.md")
    roots = LocalRoots([tmp_path, tmp_path / "docs", tmp_path / "docs" / "b.md"])
    items = list(discover(roots, recursive=True))
    assert [item.file.path.name for item in items if isinstance(item, DiscoveredFile)] == ["a.md", "b.md"]
    assert [item.verdict for item in items if isinstance(item, Unread)] == ["skipped", "skipped"]


def test_a_granted_file_is_found_unless_it_is_a_secret(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "server.key")
    assert look(tmp_path / "a.md") == (["a.md"], {})
    assert look(tmp_path / "server.key")[1]["server.key"].startswith("refused: *.key may hold secrets")


def test_a_root_that_vanished_is_named(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    roots = LocalRoots([root])
    root.rmdir()
    (item,) = discover(roots, recursive=True)
    assert isinstance(item, Unread)
    assert item.verdict == "failed"


def test_a_refused_folder_target_names_the_reason(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(SourceRefused, match="a file, not a folder"):
        discover(LocalRoots([tmp_path]), "a.md", recursive=False)
