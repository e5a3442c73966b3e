"""The web activity of a run as text, from its ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.cli.terminal.terminal import one_line
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.app.runs import LedgerEntry

_KINDS = ("source_policy", "web_searched", "shortlisted", "read")


def web_lines(ledger: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield a line for each search and each selection of sources, and one for all pages, if there are any."""
    for entry in ledger:
        if entry.kind == "source_policy":
            yield _policy(entry.data)
        elif entry.kind == "web_searched":
            yield _search(entry.data)
        elif entry.kind == "shortlisted":
            yield _choice(entry.data)
    if read := [entry.data for entry in ledger if entry.kind == "read"]:
        yield _pages(read)


def web_details(ledger: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield all web activity in order: searches with results, selected sources with reasons, and pages."""
    for entry in ledger:
        if entry.kind in _KINDS:
            yield from (f"{entry.at[11:19]}  {each}" for each in _details(entry))


def _details(entry: LedgerEntry) -> Iterator[str]:
    data = entry.data
    if entry.kind == "source_policy":
        yield _policy(data)
    elif entry.kind == "web_searched":
        yield _search(data)
        yield from (f"  found     {one_line(str(url))}" for url in data["found"])
    elif entry.kind == "read":
        why = f": {one_line(str(data['why']))}" if data["why"] else ""
        yield f"{one_line(str(data['verdict'])):<10}  {one_line(str(data['url']))}{why}"
        for kind, count in data.get("unseen", {}).items():
            yield f"  left out  {counted(int(count), f'{one_line(str(kind))} character')}"
    else:
        yield _choice(data)
        for each in data["selected"]:
            reasons = one_line("; ".join(map(str, each["reasons"])))
            yield f"  {each['score']:<8.4f}  {one_line(str(each['url']))}{f': {reasons}' if reasons else ''}"
        for url, reason in data["rejected"]:
            yield f"  rejected  {one_line(str(url))}: {one_line(str(reason))}"


def _policy(data: Mapping[str, Any]) -> str:
    return "used sources " + ", ".join(one_line(str(each)) for each in data["wanted"])


def _search(data: Mapping[str, Any]) -> str:
    queries = " and ".join(f"“{one_line(str(query))}”" for query in data["queries"])
    services = ", ".join(_service(each) for each in data["services"])
    failures = [
        f"{one_line(str(subject))} failed: {one_line(str(message))}" for subject, _, message in data["failures"]
    ]
    if services:
        where = f"searched for {queries} ({services})"
    else:
        where = f"searched for {queries}" if failures else f"used an earlier search for {queries}"
    found = len(data["found"])
    return "; ".join([f"{where}: {found} found" if found or not failures else where, *failures])


def _service(each: Mapping[str, Any]) -> str:
    name, host = one_line(str(each["name"])), one_line(str(each["host"]))
    return f"{name} at {host}" if host else name


def _choice(data: Mapping[str, Any]) -> str:
    chosen, rejected = len(data["selected"]), len(data["rejected"])
    read, origins = counted(int(data["read"]), "URL"), counted(int(data["origins"]), "origin")
    return f"chose {chosen} of {counted(chosen + rejected, 'candidate')}: {read}, {origins}"


def _pages(read: Sequence[Mapping[str, Any]]) -> str:
    verdicts = Counter(one_line(str(each["verdict"])) for each in read)
    by_verdict = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    hiding = sum("unseen" in each for each in read)
    hidden = f"; {hiding} with hidden text, which was left out" if hiding else ""
    return f"read {counted(len(read), 'page')}: {by_verdict}{hidden}"
