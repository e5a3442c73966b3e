"""Every damage that a site can do, through the whole product: searched, typed, and summarised for a model.

The good page among the damaged ones has to be cited, and of each damaged one the output has to say what became of it,
in words that fit the damage.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_ask_models import cites, environ_of
from tests.e2e.test_ask_web import MOON, SAILORS, TIDES, page
from tests.integration.net.test_damage import EXPECTED, PLACES
from tests.support.asky_command import ROOT, clean_environment, run_asky
from tests.support.endpoint import Answer, Call, Endpoint, Request
from tests.support.site import Site
from tests.support.twins.web import Hit, SearxngTwin

pytestmark = pytest.mark.model

FETCH_S = 3.0
PATIENT_S = 10.0  # for heavy pages, and for those that a busy machine was late with
READING_S = 12.0  # the product's own limit for reading all pages, named ones before the others
STARTING_S = 120.0  # for the process, the embedding model and the answer, on a slow and busy machine
PEAK_MIB = 450
BATCHES = 2

REASONS = {
    "ok": r"hardly any text|the same text as |an empty file|no reader for application/gzip|no visible text"
    r"|not a readable PDF|others fit better|no passage of it was shown|read at ",
    "cut": r"the same text as |hardly any text|no visible text|others fit better|no passage of it was shown",
    "truncated": "sent only a part of the page",
    "too_large": "expands to more than 10? MB",
    "failed": r"could not read 127\.0\.0\.1: |failed \(HTTP 5|did not send a page \(HTTP [234]",
    "missing": r"has no such page \(HTTP 4(?:04|10)\)",
    "blocked": r"does not allow access to this page \(HTTP [45]",
    "rate_limited": r"asks clients to wait(?: \d+ (?:s|days))? \(HTTP (?:429|503)\)|within 3 s",
    "unreachable": r"could not reach 127\.0\.0\.1: ",
    "timed_out": r"did not send the page within 3 s|not read within \d+ s",
    "source_refused": "^refused: ",
}
"""What is said of a page that was not chosen, by the outcome of fetching it; pauses may use up the deadline."""
HEAVY = [name for name in EXPECTED if EXPECTED[name] in ("cut", "too_large") or name.startswith("long_")]
SLOW = re.compile("not read within|did not send the page within")

WRITTEN_BY_ASKY = re.compile(r"\x1b\[(?:[0-9;]*[mKAD]|J|\?(?:25|2004|2026)[hl])|[\n\r\t]")
HOSTILE = (
    "\x1b]0;owned\x07\x1b[2JThe moon \u202eraises\u2066 two high\x9b31m tides a day.&#27;[31m&#155;5n&#x202e;"
    "&#x9d;52;c;aGk=&#7; The sun raises smaller tides\x00 of its own, \u200f\u202dnearly half as high as the other.\x08"
)


def batches() -> list[list[str]]:
    """All damages: the heavy ones, then the others, each kind spread over the batches."""
    light = sorted(set(EXPECTED) - set(HEAVY), key=lambda name: (EXPECTED[name], name))
    return [HEAVY, *(light[start::BATCHES] for start in range(BATCHES))]


def path_of(name: str) -> str:
    return f"/damage/{PLACES.get(name, name)}"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        site.page("/tides", html=page("Tides", MOON, SAILORS))
        site.page("/damage/a page", html=page("A page", "Here."))
        yield site


def environ(
    site: Site, twin: SearxngTwin | None = None, *, is_heavy: bool = False, fetch_s: float = FETCH_S
) -> dict[str, str]:
    """Short deadlines, many pages, and no waiting for turns: one host plays all."""
    named = {
        "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]),
        "ASKY_NETWORK__HOST_GAP_S": "0",
        "ASKY_NETWORK__PER_HOST": "16",
        "ASKY_NETWORK__TIMEOUT_S": str(PATIENT_S if is_heavy else fetch_s),
        "ASKY_SEARCH__MAX_RESULTS": "100",
        "ASKY_RESEARCH__SHORTLIST__MAX_CANDIDATES": "100",
        "ASKY_RESEARCH__SHORTLIST__MAX_FETCH_URLS": "100",
        "ASKY_RESEARCH__MAX_TURNS": "100",
    }
    if not is_heavy:
        named["ASKY_RESEARCH__SHORTLIST__CONCURRENCY"] = "32"  # most of them only wait
    if twin is not None:
        named |= {"ASKY_SEARCH__SEARXNG__BASE_URL": twin.base_url, "ASKY_SEARCH__SEARXNG__GAP_S": "0"}
    return named


# A process of its own between the tests and what is measured: a child starts with the peak memory of its parent.
WITNESS = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([done.returncode, done.stdout, done.stderr, peak]))
"""


def ask(home: Path, environ: dict[str, str], *arguments: str) -> dict[str, Any]:
    """The answer of a run that has to end well, in time, in little memory and without a traceback."""
    began = time.monotonic()
    command = [sys.executable, "-c", WITNESS, sys.executable, "-m", "asky", *arguments, "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=clean_environment(home, environ), cwd=ROOT, timeout=300, check=True
    )
    code, out, err, peak_bytes = json.loads(done.stdout)
    assert time.monotonic() - began < 2 * READING_S + STARTING_S
    assert "Traceback" not in err, err
    assert code == 0, err
    assert peak_bytes < PEAK_MIB << 20
    answer: dict[str, Any] = json.loads(out)
    assert_clean(answer)
    return answer


def assert_clean(value: Any) -> None:
    """Nothing in an object of JSON drives a terminal or turns text around."""
    if isinstance(value, dict):
        for each in value.values():
            assert_clean(each)
    elif isinstance(value, list):
        for each in value:
            assert_clean(each)
    elif isinstance(value, str):
        assert controls(value) == []


def controls(text: str) -> list[str]:
    """The control characters and bidirectional controls of `text`, but for line ends and tabs."""
    kept = re.sub(r"[\n\r\t]", "", text)
    bidi = re.compile("[\u202a-\u202e\u2066-\u2069]")
    return [f"U+{ord(char):04X}" for char in kept if unicodedata.category(char) == "Cc" or bidi.match(char)]


def assert_accounted(site: Site, answer: dict[str, Any], names: list[str]) -> list[str]:
    """Each damaged page is a source, or is rejected in words that fit its damage, or is among the returned late ones.

    So many at once may keep a busy machine, on which the site runs as well, from sending a page in time.
    """
    reasons = {each["url"]: each["reason"] for each in answer["rejected"]}
    shown = {each["url"] for each in answer["sources"]}
    wrong: list[tuple[str, str]] = []
    late: list[str] = []
    for name in names:
        url, outcome = site.url(path_of(name)), EXPECTED[name]
        reason = reasons.get(url)
        if reason is None:
            if not (url in shown and outcome in ("ok", "cut")):
                wrong.append((name, "nothing is said of it"))
        elif not re.search(REASONS[outcome], reason):
            if SLOW.search(reason):
                late.append(name)
            else:
                wrong.append((name, reason))
    assert not wrong, wrong
    return [] if names == HEAVY else late  # each of the heavy ones takes the site's time, however few they are


def ask_again(home: Path, late: list[str], ask: Callable[[list[str]], list[str]]) -> None:
    """Have `ask` look at the late pages alone, with more time, until none is late; there are fewer each time."""
    while late:
        cleared = run_asky("cache", "clear", home=home)  # a page that failed is not fetched again at once
        assert cleared.returncode == 0, cleared.stderr
        still = ask(late)
        assert len(still) < len(late), still
        late = still


def searched(home: Path, site: Site, names: list[str], fetch_s: float = FETCH_S) -> dict[str, Any]:
    """The answer to a question for which the search finds the damaged pages and a good one."""
    rows = [Hit(site.url(path_of(name)), "High tides of the moon", f"{TIDES} About {name}.") for name in names]
    rows.append(Hit(site.url("/tides"), "Tides", "What sailors read."))
    with SearxngTwin(rows=rows) as twin:
        return ask(home, environ(site, twin, is_heavy=names == HEAVY, fetch_s=fetch_s), "-r", TIDES)


@pytest.mark.extended
@pytest.mark.parametrize("names", batches(), ids=lambda names: names[0])
def test_a_search_that_finds_damaged_pages_is_answered_from_the_good_one(
    home: Path, site: Site, names: list[str]
) -> None:
    answer = searched(home, site, names)
    assert site.url("/tides") in {each["url"] for each in answer["citations"]}
    assert answer["usage"]["fetches"] <= len(names) + 1
    late = assert_accounted(site, answer, names)
    assert len(late) < len(names) / 2
    ask_again(home, late, lambda names: assert_accounted(site, searched(home, site, names, PATIENT_S), names))


@pytest.mark.extended
def test_heavy_pages_leave_time_and_memory_for_the_good_one(home: Path, site: Site) -> None:
    rows = [Hit(site.url(f"/damage/long_page/{at}"), "High tides of the moon", TIDES) for at in range(10)]
    rows.append(Hit(site.url("/tides"), "Tides", "What sailors read."))
    with SearxngTwin(rows=rows) as twin:
        answer = ask(home, environ(site, twin, is_heavy=True), "-r", TIDES)
    assert site.url("/tides") in {each["url"] for each in answer["citations"]}


def test_nothing_found_and_nothing_reached_are_told_apart(home: Path, site: Site) -> None:
    found = [Hit(f"http://host{at}.invalid/", "High tides of the moon", TIDES) for at in range(9)]
    for rows, code, message in (([], 11, "the web search found nothing"), (found, 5, "could be reached")):
        with SearxngTwin(rows=rows) as twin:
            if not rows:
                twin.play("empty")
            done = run_asky("-r", TIDES, "--json", home=home, environ=environ(site, twin))
        assert done.returncode == code, done.stderr
        assert message in json.loads(done.stderr.splitlines()[0])["message"]
        assert "Searched" not in json.loads(done.stdout)["answer"]


@pytest.mark.extended
@pytest.mark.parametrize("names", batches(), ids=lambda names: names[0])
def test_damaged_pages_that_a_question_names_leave_the_good_one_cited(home: Path, site: Site, names: list[str]) -> None:
    answer = named(home, site, names)
    assert site.url("/tides") in {each["url"] for each in answer["citations"]}
    late = assert_accounted(site, answer, names)
    assert len(late) < len(names) / 2
    ask_again(home, late, lambda names: assert_accounted(site, named(home, site, names, PATIENT_S), names))


def named(home: Path, site: Site, names: list[str], fetch_s: float = FETCH_S) -> dict[str, Any]:
    """The answer to a question that names the damaged pages and a good one."""
    typed = " ".join(site.url(path_of(name)) for name in names)
    variables = environ(site, is_heavy=names == HEAVY, fetch_s=fetch_s)
    return ask(home, variables, "-r", f"{TIDES} Read {typed} and {site.url('/tides')}.")


@pytest.mark.extended
def test_a_model_is_told_why_a_page_cannot_be_summarised(home: Path, site: Site) -> None:
    # those that take long beside each other
    names = sorted(EXPECTED, key=lambda name: (EXPECTED[name], name))
    answer, told = summarised(home, site, names)
    assert answer["citations"][0]["url"] == site.url("/tides")
    assert {site.url(path_of(name)) for name in names if EXPECTED[name] not in ("ok", "cut")} <= {
        each["url"] for each in answer["rejected"]
    }
    late = assert_told(site, told, names)
    assert len(late) < len(names) / 2
    ask_again(home, late, lambda names: assert_told(site, summarised(home, site, names, PATIENT_S)[1], names))


def summarised(home: Path, site: Site, names: list[str], fetch_s: float = FETCH_S) -> tuple[dict[str, Any], str]:
    """The answer of a model that has the damaged pages summarised and reads a good one, and what its tools told it."""
    urls = [site.url(path_of(name)) for name in names]
    left = list(urls)
    told: dict[str, str] = {}

    def play(request: Request) -> Answer:
        if not request.tools:
            return Answer("It tells of a mill that burnt down.")
        for each in request.messages:
            if each["role"] == "tool":
                told.setdefault(
                    each["tool_call_id"], each["content"]
                )  # the first time: it is left out when room is short
        if left:
            now, left[:] = left[:40], left[40:]
            groups = [now[start : start + 5] for start in range(0, len(now), 5)]
            return Answer(calls=tuple(Call("get_link_summaries", {"urls": group}) for group in groups))
        if "two high tides a day" not in "".join(told.values()):
            reading = Call("extract_links", {"urls": [site.url("/tides")]})
            return Answer(calls=(reading, Call("get_relevant_content", {"queries": ["high tides moon"]})))
        return cites("The moon raises two high tides a day [{key}].")(request)

    question = f"{TIDES} Look at {site.url('/tides')} {' '.join(urls)}"
    with Endpoint(play) as endpoint:
        variables = environ(site, fetch_s=fetch_s) | environ_of(endpoint) | {"ASKY_NETWORK__MAX_PAGE_MB": "1"}
        answer = ask(home, variables, "-r", "--shortlist", "off", "-m", "priced", question)
    return answer, "\n".join(told.values())


def assert_told(site: Site, told: str, names: list[str]) -> list[str]:
    """Of each damaged page it is said once why it cannot be read, in words that fit, or it is among the late ones."""
    wrong: list[tuple[str, str]] = []
    late: list[str] = []
    for name in names:
        url = site.url(path_of(name))
        said = [line.partition(": could not be read: ")[2] for line in told.splitlines() if line.startswith(f"{url}: ")]
        could_be_read = EXPECTED[name] in ("ok", "cut")
        if said and SLOW.search(said[0]) and not re.search(REASONS[EXPECTED[name]], said[0]):
            late.append(name)
        elif len(said) != (0 if could_be_read else 1) and not (could_be_read and re.search(REASONS["ok"], said[0])):
            wrong.append((name, f"said {len(said)} times"))
        elif said and not re.search(REASONS[EXPECTED[name]], said[0]):
            wrong.append((name, said[0]))
    assert not wrong, wrong
    return late


@pytest.fixture
def hostile(site: Site) -> Iterator[SearxngTwin]:
    """A search service and a page that try to drive the terminal."""
    title = "Tides \x1b]0;owned\x07\x9b2J\u202esedit"
    site.page(
        "/hostile", html=f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{HOSTILE}</p></body>"
    )
    rows = [Hit(site.url("/hostile"), title, HOSTILE), Hit(site.url("/damage/status_404/\u202egnp"), title, HOSTILE)]
    with SearxngTwin(rows=rows) as twin:
        yield twin


@pytest.mark.extended
def test_a_hostile_page_does_not_reach_the_terminal(home: Path, site: Site, hostile: SearxngTwin) -> None:
    variables = environ(site, hostile)
    answer = ask(home, variables, "-r", TIDES)
    assert "two high tides a day" in answer["answer"]
    for arguments in (("-r", TIDES), ("-r", TIDES, "-v"), ("why", "1"), ("runs", "show", "-v"), ("cache", "list")):
        shown = on_terminal(home, variables, *arguments)
        assert "hostile" in shown or "high tides" in shown
        assert controls(WRITTEN_BY_ASKY.sub("", shown)) == [], arguments
    for arguments in (("-r", TIDES, "-v"), ("runs", "show", "-v")):
        piped = run_asky(*arguments, home=home, environ=variables).stdout
        assert "high tides" in piped
        assert controls(WRITTEN_BY_ASKY.sub("", piped)) == [], arguments


def on_terminal(home: Path, environ: dict[str, str], *arguments: str) -> str:
    """Everything that `asky ARGUMENTS` writes to a terminal, but for its own styles and cursor movements."""
    leader, follower = os.openpty()
    command = [sys.executable, "-m", "asky", *arguments]
    variables = clean_environment(home, environ | {"TERM": "xterm-256color"})
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=variables, cwd=ROOT)
    os.close(follower)
    written = b""
    with suppress(OSError):  # Linux reports the end so
        while data := os.read(leader, 65_536):
            written += data
    os.close(leader)
    assert process.wait(timeout=300) == 0
    return written.decode("utf-8", "replace")
