"""`asky runs export` and `asky runs verify`: a run as a file for somebody else, and the check of one."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asky.cli.export_forms import FORMS, SAY_FORMAT, SUFFIXES_TOLD, Form, form_of
from asky.cli.options import complete_run, json_option
from asky.cli.run_lookup import find_run, session_name
from asky.cli.terminal import Terminal, json_text, one_line
from asky.cli.workbench import Workbench, workbench
from asky.errors import StoreDamaged, UsageError
from asky.storage.stored_json import SEE_DOCTOR
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.evidence.bundle_check import CheckedBundle
    from asky.storage.runs import Run


@click.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write to FILE instead of stdout, by its suffix {SUFFIXES_TOLD}.",
)
@click.option("--format", "form", type=click.Choice(FORMS), help="Write this, whatever the file is called.")
@click.option(
    "--bundle", type=click.Path(path_type=Path), help="Write a zip archive with all of it, for `asky runs verify`."
)
def export(run_id: str | None, output: Path | None, form: Form | None, bundle: Path | None) -> None:
    """Export a run; by default the last one, as one JSON object with its evidence.

    The JSON holds the whole text of every document that a passage was shown of, so that its citations can be checked
    elsewhere: python -m asky.evidence.check FILE

    `bibtex`, `csl` (CSL-JSON) and `ris` list the sources that its answer cites; `html` is the answer as a report.
    """
    if bundle is not None and (output is not None or form is not None):
        raise UsageError("--bundle writes everything, to its own file", hint="leave out -o and --format")
    if str(bundle) == "-":
        raise UsageError("--bundle writes to a file, not to stdout", hint="name one, such as answer.zip")
    chosen = form or ("json" if output is None else form_of(output, hint=SAY_FORMAT))
    with workbench() as bench:
        run = find_run(bench, run_id)
        if bundle is not None:
            _write_bundle(bench, run, bundle)
            return
        text = _exported(bench, run, chosen)
        if output is None:
            bench.terminal.out.write(text)
            return
        from asky.cli.saving import save_text

        save_text(output, text)
        bench.terminal.note(f"wrote run {run.id} to {output}")


def _exported(bench: Workbench, run: Run, form: Form) -> str:
    if form == "json":
        return json_text(_run_object(bench, run)) + "\n"
    if form == "html":
        return _page(bench, run)
    if run.answer is None:
        raise UsageError(
            f"run {run.id} has no answer: it is {run.status}", hint="`asky runs list` shows those that have one"
        )
    if form == "md":
        from asky.evidence.markdown import answer_markdown

        return answer_markdown(run.answer)
    from asky.evidence.bibliography import bibliography  # for these formats only

    if not run.answer["citations"]:
        bench.terminal.note(f"the answer of run {run.id} cites nothing")
    return bibliography([run.answer], form)


def _run_object(bench: Workbench, run: Run) -> dict[str, Any]:
    from asky.evidence.export import export_run

    services = bench.services
    passages = services.runs.passages(run.id)
    texts = {id_: services.documents.text(id_) for id_ in dict.fromkeys(each.document_id for each in passages)}
    return export_run(run, passages, texts, services.runs.ledger(run.id), session=session_name(bench, run))


def _page(bench: Workbench, run: Run) -> str:
    from asky.cli.answers import as_html  # with the evidence layer

    return as_html(run, bench.services)


def _write_bundle(bench: Workbench, run: Run, path: Path) -> None:
    from asky import __version__
    from asky.cli.saving import save_bytes
    from asky.evidence.bundle import make_bundle
    from asky.evidence.bundle_check import check_bundle

    data = make_bundle(_run_object(bench, run), _page(bench, run), tool=f"asky {__version__}")
    if faults := check_bundle(BytesIO(data)).faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise StoreDamaged(
            f"nothing was written: a bundle of run {run.id} would fail its check: {faults[0]}{more}", hint=SEE_DOCTOR
        )
    save_bytes(path, data)
    bench.terminal.note(f"wrote run {run.id} to {path}; `asky runs verify {path}` checks it anywhere")


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def verify(ctx: click.Context, bundle: Path, as_json: bool) -> None:
    """Check the archive BUNDLE, which `asky runs export --bundle` has written, and nothing but it.

    Every file must be there with its hash, every citation's offsets must give its quote in the text with its hash, and
    every claim must stand in the answer. Report, bibliography and README must be what asky makes of that evidence. The
    exit code is 1 if anything is not so. No store, configuration or network is needed, and nothing is unpacked.
    """
    from asky.evidence.bundle_check import check_bundle  # not for --help
    from asky.report.remaking import remade_faults

    try:
        if bundle.exists() and not bundle.is_file():
            raise UsageError(f"cannot read {bundle}: it is no file")
        with bundle.open("rb") as file:
            checked = check_bundle(file)
            if not checked.faults:
                checked = replace(checked, faults=remade_faults(file))
    except OSError as error:
        raise UsageError(f"cannot read {bundle}: {(error.strerror or str(error)).lower()}") from error
    terminal = Terminal(out=sys.stdout, err=sys.stderr, environ=os.environ)
    if as_json:
        terminal.json(_checked_json(checked))
    else:
        _print_checked(terminal, checked)
    if checked.faults:
        ctx.exit(1)


def _checked_json(checked: CheckedBundle) -> dict[str, Any]:
    return {
        "schema": "asky.verified/1",
        "run": checked.run,
        "digest": checked.digest,
        "files": checked.files,
        "citations": checked.citations,
        "claims": checked.claims,
        "ok": not checked.faults,
        "faults": list(checked.faults),
    }


def _print_checked(terminal: Terminal, checked: CheckedBundle) -> None:
    for fault in checked.faults:
        terminal.line(f"FAILED: {one_line(fault)}")
    if not checked.faults:
        counts = ", ".join(
            counted(number, noun)
            for number, noun in ((checked.files, "file"), (checked.citations, "citation"), (checked.claims, "claim"))
        )
        terminal.line(f"ok: run {one_line(checked.run or '')}, {counts}")
        terminal.line(f"digest {one_line(checked.digest or '')}")
        terminal.line("the bundle is whole; whether it is the one that was made, its digest tells beside its maker's")
