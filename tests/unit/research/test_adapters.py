"""Adapters run real programs here: scripts of /bin/sh and of this Python."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # it has no stubs here
import pytest

from asky.config.schema import CustomTool, SourceAdapter
from asky.errors import ConfigError, SourceError, SourceRefused, SourceUnreadable
from asky.research.adapters import AdapterLink, AdapterListing, AdapterPayload, AdapterSettings, SourceAdapters
from asky.research.local.files import LocalRoots
from asky.values import Document

ECHO_ARGUMENTS = (
    "import json, os, sys; print(json.dumps({'content': json.dumps([os.fsencode(a).hex() for a in sys.argv[1:]])}))"
)


def read_plainly(data: bytes, *, name: str, media_type: str) -> Document:
    return Document(data.decode(), media_type, name)


def adapters(
    *settings: AdapterSettings, roots: Sequence[Path] = (), environ: Mapping[str, str] | None = None
) -> SourceAdapters:
    return SourceAdapters(settings, LocalRoots(roots), read_document=read_plainly, max_file_bytes=1000, environ=environ)


def runs(script: str, *, timeout_s: float = 30.0, max_output_bytes: int = 1 << 20) -> AdapterSettings:
    """An adapter for wiki:// that runs a shell script, with the target as `$1`."""
    tool = ["/bin/sh", "-c", script, "tool"]
    return AdapterSettings("wiki", "wiki://", tool=tool, timeout_s=timeout_s, max_output_bytes=max_output_bytes)


def says(output: str, prefix: str = "wiki://") -> AdapterSettings:
    """An adapter that prints `output` whatever it is asked."""
    return AdapterSettings("wiki", prefix, tool=["/bin/sh", "-c", 'printf %s "$0"', output])


# what programs answer


def test_a_source_has_title_text_and_links() -> None:
    output = {
        "title": " A\npage ",
        "content": "text",
        "links": [
            "wiki://b",
            {"url": "wiki://c", "text": "C"},
            {"href": "wiki://d", "title": "D"},
            {"href": "https://example.org/e"},
        ],
        "more": 1,
    }
    both = adapters(says(json.dumps(output)))
    payload = both.read("wiki://a")
    assert (payload.title, payload.content, payload.document.media_type) == ("A page", "text", "text/plain")
    assert [(each.url, each.text) for each in payload.links] == [
        ("wiki://b", "wiki://b"),
        ("wiki://c", "C"),
        ("wiki://d", "D"),
        ("https://example.org/e", "https://example.org/e"),
    ]
    assert [(each.url, each.text) for each in payload.document.links] == [(e.url, e.text) for e in payload.links]
    assert both.discover("wiki://a").links == payload.links
    assert both.load("wiki://a") == payload


def test_discovering_and_reading_can_be_two_programs() -> None:
    echo = """/bin/sh -c 'printf "{\\"%s\\": %s}" "$0" "$1"' """
    settings = AdapterSettings(
        "wiki", "wiki://", discover_tool=f"""{echo} links '["wiki://b"]'""", read_tool=f"""{echo} content '"text"'"""
    )
    both = adapters(settings)
    assert both.discover("wiki://a").links == (AdapterLink("wiki://b", "wiki://b"),)
    assert both.read("wiki://a").content == "text"


def split(listed: str, read: str) -> AdapterSettings:
    """An adapter with two programs that run these shell scripts."""
    return AdapterSettings(
        "wiki", "wiki://", discover_tool=["/bin/sh", "-c", listed], read_tool=["/bin/sh", "-c", read]
    )


def test_a_source_has_the_links_of_both_programs_once() -> None:
    listed = """echo '{"links": ["wiki://b", {"href": "wiki://c", "text": "other words"}]}'"""
    read = """echo '{"content": "text", "links": [{"url": "wiki://c", "text": "C"}]}'"""
    loaded = adapters(split(listed, read)).load("wiki://a")
    assert isinstance(loaded, AdapterPayload)
    assert [(each.url, each.text) for each in loaded.document.links] == [("wiki://c", "C"), ("wiki://b", "wiki://b")]


@pytest.mark.parametrize(
    ("read", "why"),
    [("echo '{}'", None), ("echo 'it is a folder' >&2; exit 1", "adapter wiki: exit status 1: it is a folder")],
)
def test_links_without_a_text_are_a_list(read: str, why: str | None) -> None:
    loaded = adapters(split("""echo '{"links": ["wiki://b"]}'""", read)).load("wiki://a")
    assert loaded == AdapterListing((AdapterLink("wiki://b", "wiki://b"),), why_unread=why)


@pytest.mark.parametrize(
    ("listed", "read", "verdict"),
    [
        ("echo '{}'", "echo '{}'", "empty"),
        ("echo '{}'", "exit 3", "failed"),
        ("exit 3", """echo '{"content": "text"}'""", "failed"),
        ("""echo '{"links": ["wiki://b"]}'""", "yes", "too_large"),
    ],
)
def test_a_failure_is_no_list(listed: str, read: str, verdict: str) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        adapters(split(listed, read)).load("wiki://a")
    assert caught.value.verdict == verdict


def custom_tool(*command: str, environment: tuple[str, ...] = ("PATH",)) -> CustomTool:
    parameters = {
        "properties": {"page": {"type": "string"}, "depth": {"type": "integer"}},
        "required": ["page"],
    }
    return CustomTool("Read the wiki.", command, parameters, environment=environment)


@pytest.mark.parametrize(
    ("command", "content"),
    [
        (("printf '%s' \"$1\"", "tool", "--page={page}"), "--page=wiki://a b"),
        (("cat",), '{"page": "wiki://a b"}\n'),
        (("printf '%s' \"$TZ$HOME\"",), "ASKY-3"),
    ],
)
def test_a_tool_of_the_configuration_can_be_named(command: tuple[str, ...], content: str) -> None:
    script, *rest = command
    encode = "| python3 -c 'import json, sys; print(json.dumps({\"content\": sys.stdin.read()}))'"
    tool = custom_tool("/bin/sh", "-c", f"{script} {encode}", *rest, environment=("PATH", "TZ"))
    both = SourceAdapters.configured(
        {"wiki": SourceAdapter("wiki://", tool=("read_wiki",))},
        {"read_wiki": tool},
        LocalRoots([]),
        read_document=read_plainly,
        max_file_bytes=1000,
        environ={**os.environ, "TZ": "ASKY-3", "HOME": "/nowhere"},
    )
    assert both.read("wiki://a b").content == content


def test_other_commands_have_another_version() -> None:
    versions = {adapters(runs(script)).version("wiki://a") for script in ("exit 1", "exit 2")}
    assert len(versions) == 2
    assert adapters(runs("exit 1")).version("wiki://b") in versions
    assert adapters(runs("exit 1")).version("other://b") is None


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("", "not JSON"),
        ("Error: no such page", "not JSON"),
        ('{"content": "cut', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('["text"]', "not a JSON object"),
        ('"text"', "not a JSON object"),
        ('{"content": 7}', '"content" is not a text'),
        ('{"content": {"text": "x"}}', '"content" is not a text'),
        ('{"content": "x", "title": ["t"]}', '"title" is not a text'),
        ('{"content": "x", "links": "wiki://b"}', '"links" is not a list'),
        ('{"content": "x", "links": [7]}', "a link is neither"),
        ('{"content": "x", "links": [""]}', "a link is neither"),
        ('{"content": "x", "links": [{"text": "b"}]}', "a link is neither"),
        ('{"content": "x", "links": [{"url": "b", "text": 7}]}', "a link is neither"),
    ],
)
def test_output_of_another_shape_is_a_failure_that_says_so(output: str, problem: str) -> None:
    with pytest.raises(SourceUnreadable, match="adapter wiki") as caught:
        adapters(says(output)).read("wiki://a")
    assert problem in caught.value.message


def test_output_that_is_not_utf8_is_a_failure() -> None:
    with pytest.raises(SourceUnreadable, match="not JSON"):
        adapters(runs("""printf '{"content": "\\351"}'""")).read("wiki://a")


def test_text_is_cleaned_of_what_a_terminal_would_obey() -> None:
    output = json.dumps({"content": "a\x1b[31m\ud800b\x00", "title": "t\x1b]0;x\x07", "links": ["wiki://\x1b[2Jb"]})
    payload = adapters(says(output)).read("wiki://a")
    assert payload.content == "a[31m\ufffdb\ufffd"
    assert "\x1b" not in f"{payload.title}{payload.links}"


@pytest.mark.parametrize(
    "output", ['{"title": "t", "links": ["wiki://b"]}', '{"content": " \\n "}', '{"content": null}']
)
def test_a_source_without_text_is_empty_when_it_is_read(output: str) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        adapters(says(output)).read("wiki://a")
    assert caught.value.verdict == "empty"


def test_a_source_may_lead_nowhere() -> None:
    assert adapters(says('{"content": "x"}')).discover("wiki://a").links == ()


# what programs are given

HOSTILE = [
    "$(touch {canary})",
    "`touch {canary}`",
    "; touch {canary}",
    "&& touch {canary}",
    "|| touch {canary}",
    "| touch {canary}",
    "& touch {canary} &",
    "\ntouch {canary}\n",
    "> {canary}",
    "< /etc/passwd",
    "'; touch {canary}; '",
    '"; touch {canary}; "',
    "'$(touch {canary})'",
    "${IFS}touch${IFS}{canary}",
    "$HOME",
    "$0",
    "%PATH%",
    "*",
    "/*",
    "~",
    "{a,b}",
    "[a-z]",
    "!!",
    "# comment",
    "\\",
    "\\\\n",
    "two words",
    " lead and trail ",
    "\ttab\x0b\x0c\r",
    "\x1b[31mred\x7f",
    "é \u202e 漢字 \U0001f600",
    "{target}",
    "--",
    "-rf /",
    "%s%n%x",
    "'" * 50,
]


def arguments_for(target: str, *tool: str) -> list[bytes]:
    """What a program with the arguments `tool` gets for a target."""
    command = [sys.executable, "-I", "-S", "-c", ECHO_ARGUMENTS, *tool]
    content = adapters(AdapterSettings("wiki", "wiki://", tool=command)).read(target).content
    return [bytes.fromhex(argument) for argument in json.loads(content)]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_target_arrives_as_one_argument_byte_for_byte(tmp_path: Path, hostile: str) -> None:
    target = "wiki://" + hostile.replace("{canary}", str(tmp_path / "canary"))
    assert arguments_for(target, "--") == [b"--", target.encode()]
    assert not (tmp_path / "canary").exists()


def test_a_target_comes_last_or_takes_the_place_of_its_argument() -> None:
    assert arguments_for("wiki://a", "x") == [b"x", b"wiki://a"]
    assert arguments_for("wiki://a", "--page", "{target}", "--last") == [b"--page", b"wiki://a", b"--last"]
    assert arguments_for("wiki://{target}", "{target}") == [b"wiki://{target}"]


@pytest.mark.parametrize("target", ["wiki://a\0b", "wiki://" + "a" * 5000, "wiki://\ud800"])
def test_a_target_that_no_argument_can_hold_is_refused(target: str) -> None:
    with pytest.raises(SourceRefused):
        adapters(says('{"content": "x"}')).read(target)


def test_a_program_gets_no_keys_no_input_and_no_folder_of_ours(tmp_path: Path) -> None:
    environ = {**os.environ, "OPENAI_API_KEY": "sk-secret", "ASKY_MODEL": "m", "TZ": "ASKY-3"}
    settings = runs("""env | tr '"\\n' '. ' > "${1#wiki://}"; pwd >> "${1#wiki://}"; cat; echo '{"content": "x"}'""")
    adapters(settings, environ=environ).read(f"wiki://{tmp_path}/seen")
    seen = (tmp_path / "seen").read_text()
    assert "sk-secret" not in seen
    assert "ASKY_MODEL" not in seen
    assert "TZ=ASKY-3" in seen
    assert seen.endswith("/\n")


# programs that fail


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "adapter wiki: exit status 3"),
        ("echo first >&2; echo 'no such page' >&2; exit 1", "adapter wiki: exit status 1: no such page"),
        ("printf 'bad\\033[31m' >&2; exit 1", "adapter wiki: exit status 1: bad\\x1b[31m"),
        ("kill -SEGV $$", "adapter wiki: killed by SIGSEGV"),
        ("""echo '{"content": "x"}'; exit 9""", "adapter wiki: exit status 9"),
    ],
)
def test_a_failing_program_is_reported_with_its_exit_status(script: str, said: str) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        adapters(runs(script)).read("wiki://a")
    assert (caught.value.message, caught.value.verdict) == (said, "failed")


def test_a_program_that_is_not_there_is_a_failure_with_a_hint() -> None:
    settings = AdapterSettings("wiki", "wiki://", tool=["asky-no-such-program"])
    with pytest.raises(SourceUnreadable, match="cannot run asky-no-such-program") as caught:
        adapters(settings).read("wiki://a")
    assert caught.value.hint is not None
    assert "research.source_adapters.wiki" in caught.value.hint


def is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def wait_until_gone(pids: list[int]) -> bool:
    """Whether the processes are gone within half a minute; the kernel takes a moment to end them."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if all(is_gone(pid) for pid in pids):
            return True
        time.sleep(0.01)  # other processes are waited for
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        'sleep 60 & echo $! > "$PIDS"; echo $$ >> "$PIDS"; wait',
        'sh -c "sleep 60 & wait" & echo $! > "$PIDS"; exec 1>&- 2>&-; sleep 60',
        'trap "" TERM INT HUP; echo $$ > "$PIDS"; while :; do sleep 1; done',
    ],
)
def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path, script: str) -> None:
    settings = runs('PIDS="${1#wiki://}"; ' + script, timeout_s=2.0)
    started = time.monotonic()
    with pytest.raises(SourceUnreadable, match="stopped after 2 s") as caught:
        adapters(settings).read(f"wiki://{tmp_path}/pids")
    assert caught.value.verdict == "timed_out"
    assert time.monotonic() - started < 40
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert pids
    assert wait_until_gone(pids)


def test_a_child_that_keeps_the_pipes_open_is_not_waited_for(tmp_path: Path) -> None:
    settings = runs("""sleep 60 & echo $! > "${1#wiki://}"; echo '{"content": "done"}'""")
    started = time.monotonic()
    assert adapters(settings).read(f"wiki://{tmp_path}/pid").content == "done"
    assert time.monotonic() - started < 40
    assert wait_until_gone([int((tmp_path / "pid").read_text())])


def test_a_program_that_floods_is_stopped_at_the_limit() -> None:
    started = time.monotonic()
    with pytest.raises(SourceUnreadable, match="more than 100,000 bytes") as caught:
        adapters(runs("yes", max_output_bytes=100_000)).read("wiki://a")
    assert caught.value.verdict == "too_large"
    assert time.monotonic() - started < 40


def test_errors_that_flood_neither_block_the_program_nor_fill_the_memory() -> None:
    settings = runs("""yes | head -c 20000000 >&2; echo '{"content": "x"}'""")
    tracemalloc.start()
    try:
        assert adapters(settings).read("wiki://a").content == "x"
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_output_up_to_the_limit_arrives_whole() -> None:
    content = "é" * 400_000
    output = len(json.dumps({"content": content}, ensure_ascii=False).encode())
    script = """printf '{"content": "'; yes é | head -n 400000 | tr -d '\\n'; printf '"}'"""
    for limit, whole in ((output, True), (output - 1, False)):
        both = adapters(runs(script, max_output_bytes=limit))
        if whole:
            assert both.read("wiki://a").content == content
        else:
            with pytest.raises(SourceUnreadable):
                both.read("wiki://a")


# which adapter


def test_the_longest_prefix_wins_and_other_targets_belong_to_nobody() -> None:
    both = adapters(says('{"content": "wiki"}'), says('{"content": "team"}', "wiki://team/"))
    assert both.read("wiki://team/a").content == "team"
    assert both.read("wiki://other").content == "wiki"
    assert both.prefixes == ("wiki://team/", "wiki://")
    assert both.handles("wiki://a")
    assert not both.handles("https://example.com")
    assert not both.handles("docs/a.md")
    with pytest.raises(SourceRefused, match="no adapter"):
        both.read("zotero://me:hunter2@host/a")


def test_an_adapter_can_take_over_local_targets(tmp_path: Path) -> None:
    both = adapters(says('{"content": "by program"}', "local://"), roots=[tmp_path])
    assert both.read("local://a.md").content == "by program"


def test_messages_do_not_repeat_passwords() -> None:
    with pytest.raises(SourceError) as caught:
        adapters(says('{"content": ""}')).read("wiki://me:hunter2@host/a?token=abc")
    assert "hunter2" not in str(caught.value)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"prefix": "", "tool": "a"}, "prefix"),
        ({"prefix": "-x", "tool": "a"}, "prefix"),
        ({}, "either tool"),
        ({"tool": []}, "either tool"),
        ({"tool": "a", "read_tool": "b"}, "either tool"),
        ({"read_tool": "b"}, "either tool"),
        ({"tool": "a 'b"}, "cannot be split"),
        ({"tool": "  "}, "must begin with a program"),
        ({"tool": ["{target}"]}, "must begin with a program"),
        ({"tool": ["a", "--page={target}"]}, "an argument of its own"),
        ({"tool": ["a", "b\0"]}, "NUL"),
        ({"tool": "./read"}, "PATH or an absolute path"),
        ({"discover_tool": "a", "read_tool": "bin/read"}, "read_tool: must be a program on PATH"),
    ],
)
def test_an_adapter_that_cannot_work_is_a_configuration_error(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=r"research\.source_adapters\.wiki") as caught:
        AdapterSettings(**{"name": "wiki", "prefix": "wiki://", **fields})
    assert said in caught.value.message


# local documents


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a b.md").write_text("alpha")
    (root / "c.md").write_text("gamma")
    (root / "sub" / "d.md").write_text("delta")
    (root / "photo.jpg").write_bytes(b"\xff\xd8")
    (root / ".env").write_text("KEY=1")
    return root


def test_local_documents_are_read_by_the_reader_they_are_given_to(docs: Path) -> None:
    both = adapters(roots=[docs])
    for target in ("local://a%20b.md", "a b.md", f"{docs}/a b.md", f"file://{docs}/a%20b.md", "docs/a b.md"):
        assert both.handles(target)
        payload = both.read(target)
        assert (payload.title, payload.content) == ("a b.md", "alpha")
        assert payload.document.media_type == "text/markdown"


def test_a_local_folder_leads_to_its_files_and_names_the_rest(docs: Path) -> None:
    listing = adapters(roots=[docs]).discover("local://")
    assert listing.links == (
        AdapterLink("local://a%20b.md", "a b.md"),
        AdapterLink("local://c.md", "c.md"),
        AdapterLink("local://photo.jpg", "photo.jpg"),
    )
    assert {item.name: item.verdict for item in listing.unread} == {".env": "refused", "sub": "skipped"}
    assert adapters(roots=[docs]).discover("sub").links == (AdapterLink("local://sub/d.md", "d.md"),)


def test_a_local_file_leads_to_itself(docs: Path) -> None:
    assert adapters(roots=[docs]).discover(f"{docs}/c.md").links == (AdapterLink("local://c.md", "c.md"),)


def test_a_file_that_no_link_can_name_is_listed_as_unread(docs: Path) -> None:
    (docs / "back\\slash.md").write_text("x")
    listing = adapters(roots=[docs]).discover("local://")
    assert "back\\slash.md" in [item.name for item in listing.unread]


@pytest.mark.parametrize(
    ("target", "error", "verdict"),
    [
        ("photo.jpg", SourceUnreadable, "unsupported"),
        ("big.md", SourceUnreadable, "too_large"),
        ("none.md", SourceUnreadable, "failed"),
        ("sub", SourceRefused, None),
        (".env", SourceRefused, None),
        ("../x.md", SourceRefused, None),
        ("-rf", SourceUnreadable, "failed"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_its_kind(
    docs: Path, target: str, error: type[SourceError], verdict: str | None
) -> None:
    (docs / "big.md").write_text("x" * 1001)
    with pytest.raises(error) as caught:
        adapters(roots=[docs]).read(target)
    assert getattr(caught.value, "verdict", None) == verdict


def test_local_targets_belong_to_nobody_where_nothing_is_granted() -> None:
    none = adapters()
    assert not none.handles("local://a.md")
    with pytest.raises(SourceRefused, match="no folder"):
        none.read("local://a.md")


def test_interrupting_a_call_kills_the_program(tmp_path: Path) -> None:
    settings = runs('echo $$ > "${1#wiki://}.new"; mv "${1#wiki://}.new" "${1#wiki://}"; kill -INT $PPID; sleep 60')
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            adapters(settings).read(f"wiki://{tmp_path}/pid")
    finally:
        signal.signal(signal.SIGINT, before)
    assert wait_until_gone([int((tmp_path / "pid").read_text())])
