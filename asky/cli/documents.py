"""What commands do with documents: bring the named folders up to date, say what became of each file, give the scope."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from asky.cli.terminal import Terminal
from asky.cli.workbench import Workbench
from asky.errors import UsageError
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.tally import AcquireReport

_NAMED = 50


def folder_collection(path: Path) -> str:
    """The name of the collection that follows a folder or file given with `-d`."""
    return f"folder {os.path.realpath(path)}"


def scope_of(bench: Workbench, docs: Sequence[Path], collection: str | None) -> Scope:
    """What to search: the folders in `docs`, brought up to date first, and the named collection or the default one."""
    corpus = bench.services.corpus
    if not docs:
        name = collection or DEFAULT_COLLECTION
        if collection is None and name not in corpus.collections():
            raise UsageError(
                "there are no documents yet", hint="name some with -d PATH, or keep them with `asky corpus add PATH`"
            )
        return Scope((corpus.collection(name),))
    wanted = [sync_folder(bench, path)[0] for path in docs]
    if collection is not None:
        wanted.append(corpus.collection(collection))
    return Scope(tuple(wanted))


def sync_folder(bench: Workbench, path: Path) -> tuple[int, AcquireReport]:
    """Bring the collection of one `-d` path up to date; returns its id and what became of the files."""
    roots = bench.services.only([path])
    collection_id = bench.services.corpus.collection(folder_collection(path), create=True)
    bench.services.corpus.add_root(collection_id, os.path.realpath(path))
    report = bench.run(lambda: bench.services.acquirer.sync(collection_id, roots))
    tell(bench.terminal, report, changes_only=True)
    return collection_id, report


def tell(terminal: Terminal, report: AcquireReport, *, changes_only: bool = False) -> None:
    """The report in words, on stderr: a line for each file that cannot be searched, and one for all."""
    usable = report.verdicts.get("indexed", 0) + report.verdicts.get("unchanged", 0)
    quiet = changes_only and not report.verdicts.get("indexed") and not report.removed
    by_suffix = Counter(
        Path(each.path).suffix or each.path for each in report.problems if each.verdict == "unsupported"
    )
    for each in report.problems:
        if (each.verdict == "unsupported" and sum(by_suffix.values()) > _NAMED) or quiet:
            terminal.detail(f"{each.path}: {_words(each.verdict)}: {each.why}")
            continue
        terminal.note(f"{each.path}: {_words(each.verdict)}" + (f": {each.why}" if each.why else ""))
    if sum(by_suffix.values()) > _NAMED and not quiet:
        kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in by_suffix.most_common(8))
        terminal.note(f"{sum(by_suffix.values()):,} files of kinds that no reader takes: {kinds} (-v names each)")
    for first, reason, count in report.skipped:
        terminal.detail(f"skipped {count:,}: {reason} (the first: {first})")
    if not quiet:
        terminal.note(summary(report, usable))


def summary(report: AcquireReport, usable: int) -> str:
    """The report in one line."""
    counts = [f"{count:,} {_words(verdict)}" for verdict, count in sorted(report.verdicts.items()) if count]
    if report.removed:
        counts.append(f"{report.removed:,} removed")
    total = sum(report.verdicts.values())
    return f"{usable:,} of {total:,} files searchable ({', '.join(counts) or 'nothing found'}), {report.seconds:.1f} s"


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")


def describe_unchanged(report: AcquireReport) -> str:
    """What a folder holds in which nothing has changed."""
    usable, total = report.verdicts.get("unchanged", 0), sum(report.verdicts.values())
    if not usable:
        return f"none of its {total:,} files can be searched" if total else "no documents were found in it"
    which = f"{usable:,} document{'' if usable == 1 else 's'}" if usable == total else f"{usable:,} of {total:,} files"
    return f"{which}, nothing new"
