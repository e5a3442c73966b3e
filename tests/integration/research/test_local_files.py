"""What may be read, on a real file system; most tests run with the kernel's confinement and with the walk alone."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.errors import SourceError, SourceRefused, SourceUnreadable, UsageError
from asky.research.local.discovery import DiscoveredFile, discover
from asky.research.local.files import LocalRoots
from asky.research.local.opening import Opener, make_opener, walk_beneath

SECRET = b"OUTSIDE-7391"
OUTSIDE = "outside the configured folders"


@pytest.fixture(params=["kernel", "walk"])
def opener(request: pytest.FixtureRequest) -> Opener:
    return make_opener() if request.param == "kernel" else walk_beneath


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A granted folder `root`, and things beside it that nobody may read."""
    root = tmp_path / "root"
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "a.md").write_bytes(b"alpha")
    (root / "docs" / "b.md").write_bytes(b"beta")
    (root / "docs" / "deep" / "c.md").write_bytes(b"gamma")
    for beside in ("root_evil", "elsewhere", "etc"):
        (tmp_path / beside).mkdir()
        (tmp_path / beside / "secret.md").write_bytes(SECRET)
    (tmp_path / "secret.md").write_bytes(SECRET)
    return tmp_path


@pytest.fixture
def roots(world: Path, opener: Opener) -> LocalRoots:
    return LocalRoots([world / "root"], opener=opener)


ESCAPES = [
    "../secret.md",
    "../../secret.md",
    "docs/../../secret.md",
    "docs/../a.md",
    "./../secret.md",
    "..",
    "docs/..",
    "{world}/root/../secret.md",
    "{world}/secret.md",
    "{world}/elsewhere/secret.md",
    "{world}/root_evil/secret.md",
    "/secret.md",
    "//secret.md",
    "/etc/passwd",
    "/dev/zero",
    "/proc/self/environ",
    "/proc/self/root/{world}/secret.md",
    "~/secret.md",
    "~root/secret.md",
    "~",
    "local://../secret.md",
    "local:///../secret.md",
    "local://docs/%2e%2e/%2e%2e/secret.md",
    "local://%2e%2e%2fsecret.md",
    "local://..%2fsecret.md",
    "local://%252e%252e%252fsecret.md",
    "local://%25252e%25252e%25252fsecret.md",
    "local://%2Fetc%2Fpasswd",
    "local://{world}/secret.md",
    "local://~/secret.md",
    "local://%7e/secret.md",
    "%2e%2e/secret.md",
    "..%2fsecret.md",
    "file://{world}/secret.md",
    "file://{world}/root/%2e%2e/secret.md",
    "file://localhost{world}/root/a.md",
    "file://evil.example/root/a.md",
    "file:secret.md",
    "local:a.md",
    "..\\secret.md",
    "docs\\..\\..\\secret.md",
    "local://..%5csecret.md",
    "C:\\secret.md",
    "C:/secret.md",
    "a.md\0/../secret.md",
    "local://a.md%00.txt",
    "\ud800.md",
    "x/" * 3000 + "secret.md",
]


@pytest.mark.parametrize("vector", ESCAPES)
def test_no_target_leads_out_of_the_root(world: Path, roots: LocalRoots, vector: str) -> None:
    target = vector.replace("{world}", str(world))
    with pytest.raises(SourceRefused) as caught:
        roots.read(target, 1 << 20)
    assert OUTSIDE in caught.value.message


@pytest.mark.parametrize("vector", ["../{}", "{world}/{}", "{world}/root_evil/{}", "local://%2e%2e/{}", "~/{}"])
def test_a_refusal_does_not_tell_whether_the_file_exists(world: Path, roots: LocalRoots, vector: str) -> None:
    said = set()
    for name in ("secret.md", "absent.md"):
        with pytest.raises(SourceRefused) as caught:
            roots.read(vector.replace("{world}", str(world)).replace("{}", name), 1 << 20)
        said.add(caught.value.message.replace(name, ""))
    assert len(said) == 1


@pytest.mark.parametrize(
    "target",
    [
        "docs/b.md",
        "./docs//b.md",
        "local://docs/b.md",
        "/docs/b.md",
        "local:///docs/b.md",
        "{world}/root/docs/b.md",
        "file://{world}/root/docs/b.md",
        "local://{world}/root/docs/b.md",
        "root/docs/b.md",
        "local://docs/b%2Emd",
    ],
)
def test_a_file_is_found_by_every_spelling_of_its_place(world: Path, roots: LocalRoots, target: str) -> None:
    with roots.open(target.replace("{world}", str(world))) as opened:
        assert opened.read(100) == b"beta"
        assert opened.file.path == world / "root" / "docs" / "b.md"
        assert (opened.file.relative, opened.file.root) == ("docs/b.md", world / "root")
        status = opened.file.path.stat()
        assert (opened.stat.size, opened.stat.mtime_ns) == (4, status.st_mtime_ns)
        assert (opened.stat.inode, opened.stat.device) == (status.st_ino, status.st_dev)


def test_a_missing_file_is_said_to_be_missing(world: Path, roots: LocalRoots) -> None:
    for target in ("docs/none.md", str(world / "root" / "none.md"), "a.md/x", "x" * 300):
        with pytest.raises(SourceUnreadable, match="no such file in the configured folders"):
            roots.read(target, 100)


def test_a_root_given_through_a_link_knows_both_of_its_names(world: Path, opener: Opener) -> None:
    (world / "alias").symlink_to(world / "root")
    roots = LocalRoots([world / "alias"], opener=opener)
    assert roots.read(str(world / "alias" / "a.md"), 100) == b"alpha"
    assert roots.read(str(world / "root" / "a.md"), 100) == b"alpha"
    assert roots.paths == (world / "root",)
    assert set(roots.spellings) == {str(world / "alias"), str(world / "root")}


def test_a_file_can_be_granted_without_its_folder(world: Path, opener: Opener) -> None:
    roots = LocalRoots([world / "root" / "docs" / "b.md"], opener=opener)
    for target in ("b.md", "docs/b.md", "local://b.md", str(world / "root" / "docs" / "b.md")):
        assert roots.read(target, 100) == b"beta"
    others = ("a.md", "deep/c.md", "docs/deep/c.md", str(world / "root" / "a.md"), ".", "b.md/deep/c.md")
    for target in (*others, str(world / "root" / "docs" / "b.md" / "deep" / "c.md")):
        with pytest.raises(SourceError):
            roots.read(target, 100)


def test_earlier_roots_win_and_the_plain_place_beats_the_named_root(world: Path, opener: Opener) -> None:
    (world / "other" / "docs").mkdir(parents=True)
    (world / "other" / "docs" / "b.md").write_bytes(b"other beta")
    docs, other = world / "root" / "docs", world / "other"
    assert LocalRoots([docs, other], opener=opener).read("docs/b.md", 100) == b"other beta"
    assert LocalRoots([world / "root", other], opener=opener).read("docs/b.md", 100) == b"beta"
    assert LocalRoots([other, world / "root"], opener=opener).read("docs/b.md", 100) == b"other beta"


def test_links_name_one_file_even_where_roots_hold_the_same_names(world: Path, opener: Opener) -> None:
    (world / "more").mkdir()
    (world / "more" / "a.md").write_bytes(b"more alpha")
    (world / "more" / "100% é #1.md").write_bytes(b"odd")
    roots = LocalRoots([world / "root", world / "more"], opener=opener)
    links = {
        roots.link(item.file): item.file for item in discover(roots, recursive=True) if isinstance(item, DiscoveredFile)
    }
    assert set(links) >= {"local://a.md", "local://more/a.md", "local://docs/b.md", "local://100%25%20é%20%231.md"}
    for link, file in links.items():
        assert link is not None
        assert roots.read(link, 100) == file.path.read_bytes()


def test_roots_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        LocalRoots([tmp_path / "none"])
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        LocalRoots([Path("/dev/null")])


def test_without_roots_nothing_is_read() -> None:
    roots = LocalRoots([])
    assert not roots
    with pytest.raises(SourceRefused, match="no folder"):
        roots.read("/etc/passwd", 100)


# links


def test_links_that_stay_inside_are_followed_to_the_real_file(world: Path, roots: LocalRoots) -> None:
    root = world / "root"
    (root / "near.md").symlink_to("docs/b.md")
    (root / "docs" / "up.md").symlink_to("../a.md")
    (root / "deep").symlink_to("docs/deep")
    (root / "docs" / "deep" / "back.md").symlink_to("../.././near.md")
    for target, relative, content in [
        ("near.md", "docs/b.md", b"beta"),
        ("docs/up.md", "a.md", b"alpha"),
        ("deep/c.md", "docs/deep/c.md", b"gamma"),
        ("deep/back.md", "docs/b.md", b"beta"),
    ]:
        with roots.open(target) as opened:
            assert (opened.file.relative, opened.read(100)) == (relative, content)
            assert opened.file.path == root / relative


@pytest.mark.parametrize(
    "points_to",
    ["../secret.md", "../../../../../../../../../../etc/passwd", "{world}/secret.md", "docs/../../secret.md"],
)
def test_links_that_lead_out_are_refused(world: Path, roots: LocalRoots, points_to: str) -> None:
    (world / "root" / "link.md").symlink_to(points_to.replace("{world}", str(world)))
    with pytest.raises(SourceRefused, match=OUTSIDE):
        roots.read("link.md", 100)


def test_folders_that_lead_out_are_refused(world: Path, roots: LocalRoots) -> None:
    (world / "root" / "out").symlink_to("../elsewhere")
    (world / "root" / "docs" / "out").symlink_to(world / "elsewhere")
    (world / "root" / "via").symlink_to("docs/out")
    for target in ("out/secret.md", "docs/out/secret.md", "via/secret.md", f"{world}/root/out/secret.md"):
        with pytest.raises(SourceRefused, match=OUTSIDE):
            roots.read(target, 100)


def test_links_in_a_circle_end(world: Path, roots: LocalRoots) -> None:
    root = world / "root"
    (root / "x.md").symlink_to("y.md")
    (root / "y.md").symlink_to("x.md")
    (root / "self").symlink_to("self")
    for target in ("x.md", "self/a.md"):
        with pytest.raises(SourceUnreadable, match="form a loop"):
            roots.read(target, 100)


def test_a_hard_link_is_a_file_like_any_other(world: Path, roots: LocalRoots) -> None:
    os.link(world / "root" / "a.md", world / "root" / "twin.md")
    assert roots.read("twin.md", 100) == b"alpha"


def test_nothing_leaks_while_files_and_folders_are_swapped_for_links(world: Path, roots: LocalRoots) -> None:
    root = world / "root"
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
    outcomes: dict[bytes, int] = {}
    try:
        for attempt in range(2000):
            try:
                content = roots.read(("target.md", "sub/secret.md")[attempt % 2], 100)
            except SourceError:
                content = b"refused"
            outcomes[content] = outcomes.get(content, 0) + 1
    finally:
        done.set()
        swapper.join()
    assert set(outcomes) == {b"good", b"refused"}  # both, or the race was none


def test_the_walk_never_goes_above_the_folder_it_began_in(world: Path) -> None:
    (world / "root" / "docs" / "up").symlink_to("../..")
    base = os.open(world / "root" / "docs", os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="cross-device"):
            walk_beneath(base, ["up", "secret.md"])
    finally:
        os.close(base)


# what is not a document


@pytest.fixture
def odd_files(world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    root = world / "root"
    os.mkfifo(root / "fifo.md")
    (root / "to_fifo.md").symlink_to("fifo.md")
    names = ["fifo.md", "to_fifo.md", "socket.md"]
    if os.geteuid() == 0:
        os.mknod(root / "zero.md", 0o600 | 0o020000, os.makedev(1, 5))
        names.append("zero.md")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")  # the path of a socket is at most 108 bytes long
        yield names


def test_pipes_devices_and_sockets_are_refused_without_waiting(odd_files: list[str], roots: LocalRoots) -> None:
    for name in odd_files:
        started = time.monotonic()
        with pytest.raises(SourceRefused, match="not a regular file"):
            roots.read(name, 100)
        assert time.monotonic() - started < 60


def test_a_folder_is_refused_as_a_file_and_found_as_a_folder(world: Path, roots: LocalRoots) -> None:
    for target in ("docs", "docs/", "local://", "."):
        with pytest.raises(SourceRefused, match="a folder, not a file"):
            roots.read(target, 100)
        assert roots.folder(target) is not None
    assert roots.folder("a.md") is None


SECRETS = [
    ".env",
    ".env.local",
    "docs/.env",
    "server.pem",
    "tls.key",
    "id_rsa",
    "id_ed25519.pub",
    "app.db",
    "x.sqlite3",
]
SECRETS += [".git/config.md", "docs/.git/HEAD", ".ssh/notes.md", ".obsidian/app.json"]


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_inside_the_root_are_refused_whether_they_exist_or_not(
    world: Path, roots: LocalRoots, name: str
) -> None:
    said = set()
    for exists in (False, True):
        if exists:
            path = world / "root" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(SECRET)
        with pytest.raises(SourceRefused, match="may hold secrets") as caught:
            roots.read(name, 100)
        said.add(caught.value.message)
    assert len(said) == 1


def test_a_link_does_not_rename_a_secret(world: Path, roots: LocalRoots) -> None:
    (world / "root" / ".git").mkdir()
    (world / "root" / ".git" / "config").write_bytes(SECRET)
    (world / "root" / "config.md").symlink_to(".git/config")
    (world / "root" / "git").symlink_to(".git")
    for target in ("config.md", "git/config"):
        with pytest.raises(SourceRefused, match="may hold secrets"):
            roots.read(target, 100)


def test_a_root_beneath_a_secret_folder_can_be_granted(tmp_path: Path, opener: Opener) -> None:
    vault = tmp_path / ".obsidian" / "vault"
    vault.mkdir(parents=True)
    (vault / "a.md").write_bytes(b"note")
    assert LocalRoots([vault], opener=opener).read(str(vault / "a.md"), 100) == b"note"


def test_own_files_are_refused_under_every_name(world: Path, opener: Opener) -> None:
    root = world / "root"
    (root / "store").mkdir()
    (root / "store" / "notes.md").write_bytes(SECRET)
    (root / "config.md").write_bytes(SECRET)
    (root / "link.md").symlink_to("store/notes.md")
    roots = LocalRoots([root], denied=[root / "store", root / "config.md"], opener=opener)
    for target in ("store/notes.md", "config.md", "link.md", str(root / "store" / "notes.md")):
        with pytest.raises(SourceRefused, match="asky's own files"):
            roots.read(target, 100)
    assert roots.read("a.md", 100) == b"alpha"


# size


def test_the_limit_is_the_largest_size_that_is_read(world: Path, roots: LocalRoots) -> None:
    assert roots.read("a.md", 5) == b"alpha"
    with pytest.raises(SourceUnreadable) as caught:
        roots.read("a.md", 4)
    assert caught.value.verdict == "too_large"


def test_a_sparse_file_of_ten_gigabytes_is_refused_at_once(world: Path, roots: LocalRoots) -> None:
    (world / "root" / "huge.md").touch()
    os.truncate(world / "root" / "huge.md", 10 << 30)
    tracemalloc.start()
    try:
        with pytest.raises(SourceUnreadable) as caught:
            roots.read("huge.md", 1 << 30)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # it was not read first
    finally:
        tracemalloc.stop()
    assert caught.value.verdict == "too_large"


def test_a_file_that_grows_after_it_was_opened_is_counted_not_believed(world: Path, roots: LocalRoots) -> None:
    with roots.open("a.md") as opened, (world / "root" / "a.md").open("ab") as writer:
        writer.write(b"x" * 5_000_000)
        writer.flush()
        with pytest.raises(SourceUnreadable) as caught:
            opened.read(1_000_000)
    assert caught.value.verdict == "too_large"


def test_a_file_larger_than_one_block_is_read_whole(world: Path, roots: LocalRoots) -> None:
    content = os.urandom(3_000_001)
    (world / "root" / "big.txt").write_bytes(content)
    assert roots.read("big.txt", 3_000_001) == content


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="needs a file system whose sizes are not to be believed"
)
def test_a_file_that_claims_no_size_is_counted_too(opener: Opener) -> None:
    roots = LocalRoots([Path("/proc/self/maps")], opener=opener)
    with pytest.raises(SourceUnreadable) as caught:
        roots.read("maps", 100)
    assert caught.value.verdict == "too_large"


# the rest


def test_an_unreadable_file_is_named_as_such(opener: Opener) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        closed = Path(folder) / "closed.md"
        closed.write_bytes(b"x")
        closed.chmod(0o000)
        roots = LocalRoots([Path(folder)], opener=opener)
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)  # root may read everything
        try:
            with pytest.raises(SourceUnreadable, match="permission denied"):
                roots.read("closed.md", 100)
        finally:
            os.seteuid(before)


def test_names_that_are_not_utf8_are_read(world: Path, roots: LocalRoots) -> None:
    path = os.fsencode(world / "root") + b"/caf\xe9.md"
    with open(path, "wb") as file:
        file.write(b"latin")
    for target in (os.fsdecode(b"caf\xe9.md"), "local://caf%E9.md", "file://" + str(world / "root") + "/caf%E9.md"):
        assert roots.read(target, 100) == b"latin"
    with roots.open("local://caf%E9.md") as opened:
        assert opened.file.shown == "caf\\xe9.md"
        assert opened.file.uri.endswith("/caf%E9.md")
        assert roots.link(opened.file) == "local://caf%E9.md"


def test_no_descriptor_stays_open(world: Path, roots: LocalRoots) -> None:
    (world / "root" / "near.md").symlink_to("docs/b.md")
    (world / "root" / "bad.md").symlink_to("docs/../../secret.md")
    (world / "root" / "key.md").symlink_to("server.key")
    (world / "root" / "server.key").write_bytes(SECRET)
    before = set(os.listdir("/dev/fd"))
    for target in ("a.md", "near.md", "bad.md", "key.md", "docs", "none.md", "docs/deep/none.md", ".env"):
        with contextlib.suppress(SourceError):
            roots.read(target, 100)
        roots.exists(target)
    assert set(os.listdir("/dev/fd")) == before
