from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asky.research.local.files import LocalRoots
from asky.research.local.targets import extract_local_source_targets, redact_local_targets
from tests.support.examples import examples
from tests.support.timing import check_linear


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve() / "my docs"
        for name in (
            "guide.md",
            "sub/a.md",
            "my notes/b c.md",
            "2024/05/x.md",
            "img(1).md",
            "and/or.md",
            "caf é.md",
            "LICENSE",
        ):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text("x")
        yield top


@pytest.fixture(scope="module")
def roots(root: Path) -> LocalRoots:
    return LocalRoots([root])


def named(prompt: str, roots: LocalRoots) -> list[str]:
    return [target.text for target in extract_local_source_targets(prompt, roots)]


def redacted(prompt: str, roots: LocalRoots) -> str:
    return redact_local_targets(prompt, extract_local_source_targets(prompt, roots))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What does guide.md say?", ["guide.md"]),
        ("Summarise sub/a.md.", ["sub/a.md"]),
        ("Summarise sub/a.md... please", ["sub/a.md"]),
        ("Read sub/ first", ["sub/"]),
        ("(see sub/a.md), [guide.md]; {guide.md}!", ["sub/a.md", "guide.md", "guide.md"]),
        ("guide.md,sub/a.md", ["guide.md", "sub/a.md"]),
        ("[the guide](guide.md)", ["guide.md"]),
        ("what is guide.md's point, and sub/a.md’s?", ["guide.md", "sub/a.md"]),
        ("sub/a.md:12 and sub/a.md:12:3", ["sub/a.md", "sub/a.md"]),
        ("`sub/a.md` and **guide.md**", ["sub/a.md", "guide.md"]),
        ("img(1).md and (img(1).md)", ["img(1).md", "img(1).md"]),
        ('"my notes/b c.md"', ["my notes/b c.md"]),
        ("'my notes/b c.md' isn't “my notes/b c.md”", ["my notes/b c.md", "my notes/b c.md"]),
        ("«caf é.md»", ["caf é.md"]),
        ('"read guide.md twice"', ["guide.md"]),
        ("it's 'guide.md' that's Bob's", ["guide.md"]),
        ("--docs=guide.md", ["guide.md"]),
        ("local://guide.md!", ["local://guide.md"]),
        ("local://missing.md", ["local://missing.md"]),
        ("LOCAL://guide.md", ["LOCAL://guide.md"]),
        ("file:///srv/x.md, then", ["file:///srv/x.md"]),
        ("./missing.md ../up.md ~/x/y.md", ["./missing.md", "../up.md", "~/x/y.md"]),
        ("C:\\Users\\me\\a.md or \\\\server\\share", ["C:\\Users\\me\\a.md", "\\\\server\\share"]),
        ("/home/bob/x.md and /etc/passwd", ["/home/bob/x.md", "/etc/passwd"]),
        ("/sub/a.md", ["/sub/a.md"]),
        ("docs/../../up.md and sub/../guide.md", ["docs/../../up.md", "sub/../guide.md"]),
    ],
)
def test_local_paths_of_a_question_are_found(prompt: str, expected: list[str], roots: LocalRoots) -> None:
    assert named(prompt, roots) == expected


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "and/or, either/or, TCP/IP, w/o, km/h, 24/7, n/a, s/he",
        "on 2024/05 and 2024/05/17, version 1.2.3, 3.5%",
        "e.g. this, i.e. that, etc. ... and so on.",
        "https://example.com/docs/guide.md?x=sub/a.md",
        "http://localhost:8000/sub/a.md",
        "mailto:guide.md doi:10.1000/guide.md",
        "GET /api/v1/users.json and POST /login",
        "a missing.md and docs/missing.md",
        "LICENSE, sub and guide",
        "what is ./ or ../ or / or ~/ or local:// or file:///",
        "Explain x = a/b; y = c\\d; \\alpha.",
        "user@example.com/guide.md",
        "\" ' ` “ « ( [ {",
    ],
)
def test_words_dates_addresses_and_missing_names_are_no_paths(prompt: str, roots: LocalRoots) -> None:
    assert named(prompt, roots) == []


def test_paths_beneath_a_root_are_found_with_their_spaces(root: Path, roots: LocalRoots) -> None:
    assert named(f"Compare {root}/my notes/b c.md with {root}/sub/a.md.", roots) == [
        f"{root}/my notes/b c.md",
        f"{root}/sub/a.md",
    ]
    assert named(f"What is in {root}?", roots) == [str(root)]
    assert named(f"see file://{root}/guide.md", roots) == [f"file://{root}/guide.md"]
    assert named(f'"{root}/none at all.md"', roots) == [f"{root}/none"]


def test_the_spans_are_those_of_the_prompt_in_order(root: Path, roots: LocalRoots) -> None:
    prompt = f'x guide.md "sub/a.md" {root}/sub/a.md y'
    targets = extract_local_source_targets(prompt, roots)
    assert [prompt[target.span.start : target.span.end] for target in targets] == [
        "guide.md",
        '"sub/a.md"',
        f"{root}/sub/a.md",
    ]


def test_targets_of_adapters_are_found_and_kept_without_their_passwords(roots: LocalRoots) -> None:
    prompt = 'See wiki://team/a.b:80, "wiki://b" and zotero:KEY2; not wiki:// or other://c. Also guide.md'
    for granted, local in ((LocalRoots([]), []), (roots, ["guide.md"])):
        targets = extract_local_source_targets(prompt, granted, ("wiki://", "zotero:"))
        assert [target.text for target in targets] == ["wiki://team/a.b:80", "wiki://b", "zotero:KEY2", *local]
    secret = "wiki://me:hunter2@host/a?token=abc"
    assert redact_local_targets(secret, extract_local_source_targets(secret, roots, ["wiki://"])) == (
        "wiki://***@host/a?token=***"
    )


NOTHING = LocalRoots([])


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What does /etc/passwd say?", ["/etc/passwd"]),
        ("what does /etc/fstab do?", ["/etc/fstab"]),
        ("local://a.md, file:///srv/b.md and FILE:/srv/c.md", ["local://a.md", "file:///srv/b.md", "FILE:/srv/c.md"]),
        ("./configure, ../up.md and ~/x/y.md", ["./configure", "../up.md", "~/x/y.md"]),
        ("C:\\Users\\me\\a.md and D:/b", ["C:\\Users\\me\\a.md", "D:/b"]),
        ("(/home/bob/x.md), [notes](/tmp/a,b.md)", ["/home/bob/x.md", "/tmp/a"]),
        (
            '"~/my notes/plan for may.md" and `/home/bob/my plan.md`',
            ["~/my notes/plan for may.md", "/home/bob/my plan.md"],
        ),
        ('"/etc/hosts maps names" and "/etc/hosts or /etc/fstab.old"', ["/etc/hosts", "/etc/hosts", "/etc/fstab.old"]),
        ("--docs=/home/bob/x host:/srv/y see:file:///srv/z", ["/home/bob/x", "/srv/y", "file:///srv/z"]),
        ("PATH=/usr/bin:/home/bob/bin", ["/usr/bin:/home/bob/bin"]),
        ("sqlite:////var/lib/a.db git+file:///srv/repo", ["/var/lib/a.db", "file:///srv/repo"]),
    ],
)
def test_explicit_paths_of_the_machine_are_found_without_roots(prompt: str, expected: list[str]) -> None:
    assert named(prompt, NOTHING) == expected


@pytest.mark.parametrize(
    "prompt",
    [
        "guide.md, sub/a.md, and/or, 2024/05/17, 24/7",
        "GET /api/v1/users, POST /login.json, /v1/etc/hosts",
        "https://example.com/home/bob/a.md?u=file:///etc/passwd,/etc/hosts",
        "(see https://example.com/?p=/etc/passwd) [x](http://e.com/a,/tmp/b)",
        "git@example.com:etc/a ssh://host/home/bob s3://bucket/tmp/x doi:10.1/etc/x",
        "/etc, /home and /usr/ are folders",
        "what is ./ or ../ or / or ~/ or local:// or file:///",
    ],
)
def test_nothing_else_is_found_without_roots(prompt: str) -> None:
    assert named(prompt, NOTHING) == []
    assert redacted(prompt, NOTHING) == prompt


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What does /etc/passwd say?", 'What does "passwd" say?'),
        ("what does `/etc/fstab` do?", 'what does "fstab" do?'),
        ("List /etc/nginx/ and ./configure", 'List "nginx" and "configure"'),
        ("file:///srv/a%20b.md", '"a b.md"'),
        ("local://caf%E9.md", '"caf\\xe9.md"'),
        ("Who is /home/jane.doe, /Users/bob/ or C:\\Users\\me?", "Who is a local path, a local path or a local path?"),
        ("see:file:///home/bob/z.md", 'see:"z.md"'),
    ],
)
def test_a_question_about_a_path_can_still_be_read(prompt: str, expected: str) -> None:
    assert redacted(prompt, NOTHING) == expected


FOLDERS = st.sampled_from(
    ("/home/zq/", "/etc/zq/", "~/zq/", "../zq/", "./zq/", "C:\\zq\\", "file:///zq/", "local://zq/")
)
AROUND = st.sampled_from(("", " ", "(", ")", "[", "]", "=", ",", '"', "'", "`", "x=", "of ", ": ", "?", "\n", "«", "»"))


@given(AROUND, FOLDERS, st.sampled_from(("a.md", "b", "c d.md", "é.pdf")), AROUND)
@example("(", "/home/zq/", "a.md", ")")
def test_no_folder_of_an_explicit_path_is_left_in_a_question(before: str, folder: str, name: str, after: str) -> None:
    assert "zq" not in redacted(f"{before}{folder}{name}{after}", NOTHING)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What does sub/a.md say?", 'What does "a.md" say?'),
        ('What does "my notes/b c.md" say?', 'What does "b c.md" say?'),
        ("Read sub/ and guide.md.", 'Read the attached documents and "guide.md".'),
        ("See local://my%20notes/b%20c.md", 'See "b c.md"'),
        ("See local://a%2Fb%22c.md", "See a local path"),
        ("Read ./LICENSE and ./sub", 'Read "LICENSE" and the attached documents'),
        ("C:\\Users\\me\\a.md", '"a.md"'),
        ("nothing here, and/or there", "nothing here, and/or there"),
    ],
)
def test_a_redacted_question_keeps_the_file_names_only(prompt: str, expected: str, roots: LocalRoots) -> None:
    assert redacted(prompt, roots) == expected


def test_a_root_is_redacted_however_it_is_written(root: Path, roots: LocalRoots) -> None:
    for prompt, expected in [
        (f"in {root}, what", "in the attached documents, what"),
        (f'in "{root}/sub/a.md"', 'in "a.md"'),
        (f"in {root}_evil/a.md", 'in "a.md"'),
        (f"in ({root}/guide.md)", 'in ("guide.md")'),
        (f"in file://{root}/guide.md", 'in "guide.md"'),
    ]:
        assert redacted(prompt, roots) == expected


def test_both_names_of_a_linked_root_are_redacted(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    roots = LocalRoots([tmp_path / "alias"])
    text = redacted(f"{tmp_path}/alias/guide.md and {root}/guide.md", roots)
    assert text == '"guide.md" and "guide.md"'


ROOT = "@"  # stands for the root's path, which is only known in the test
WORDS = ("//", "a.md", "guide.md", "sub", "file://", "local://", "%20", "my", "docs", "~/", "../")
FRAGMENTS = st.sampled_from((ROOT, ROOT, *WORDS, *"/ \n\t\"'`«”().,:=é\\"))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=3)), max_size=12))
@example([ROOT, "/", ROOT, "/a.md"])
@example(["my", ROOT, '"', ROOT, "/guide.md", '"'])
@example(["file://", ROOT, " ", ROOT, "_evil"])
def test_no_redacted_question_holds_the_path_of_a_root(root: Path, roots: LocalRoots, pieces: list[str]) -> None:
    prompt = "".join(pieces).replace(ROOT, str(root))
    targets = extract_local_source_targets(prompt, roots)
    assert str(root) not in redact_local_targets(prompt, targets)
    spans = [target.span for target in targets]
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(target.text in prompt[target.span.start : target.span.end] for target in targets)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=80))
def test_a_question_without_paths_is_not_changed(roots: LocalRoots, prompt: str) -> None:
    if not extract_local_source_targets(prompt, roots):
        assert redact_local_targets(prompt, ()) == prompt


def test_a_long_question_takes_linear_time(root: Path, roots: LocalRoots) -> None:
    def extract(before: str, piece: str) -> Callable[[int], object]:
        return lambda chars: extract_local_source_targets(before + piece * (chars // len(piece)), roots)

    for piece in ("a/b ", '"', "'a ", "/", ")", "a.", f"{root}/ ", "x/y,"):
        check_linear(extract("", piece), 3_000)
    check_linear(extract("a/", ")"), 3_000)
