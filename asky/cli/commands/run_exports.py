"""`asky runs export` and `asky runs verify`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from asky.app.runs import RunService
from asky.app.schemas.run import verified_object
from asky.cli.context import command_context
from asky.cli.export_forms import FORMAT_HINT, FORMS, KNOWN_SUFFIXES, Form, form_of, print_exported, require_destination
from asky.cli.options import complete_run, json_option
from asky.cli.saving import save_bytes
from asky.cli.terminal.opened_citation import note_earlier
from asky.cli.terminal.terminal import Terminal, one_line
from asky.errors import UsageError
from asky.text.counting import counted


@click.command()
@click.argument("run_id", metavar="[ID]", required=False, shell_complete=complete_run)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write to PATH instead of stdout; the suffix selects the format: {KNOWN_SUFFIXES}.",
)
@click.option("--format", "form", type=click.Choice(FORMS), help="Format to write, regardless of the suffix.")
@click.option(
    "--bundle", type=click.Path(path_type=Path), help="Write everything to a zip archive for `asky runs verify`."
)
def export(run_id: str | None, output: Path | None, form: Form | None, bundle: Path | None) -> None:
    """Export a run with its evidence; by default the last that cites something, as one JSON object.

    The JSON includes the full text of every document shown to the model, so the citations can be checked elsewhere:
    python -m asky.evidence.check FILE

    `bibtex`, `csl` (CSL-JSON) and `ris` list the cited sources; `html` and `pdf` are the answer as a report.
    """
    if bundle is not None and (output is not None or form is not None):
        raise UsageError("--bundle writes everything, to its own file", hint="leave out -o and --format")
    if str(bundle) == "-":
        raise UsageError("--bundle writes to a file, not to stdout", hint="name one, such as answer.zip")
    chosen = form or ("json" if output is None else form_of(output, hint=FORMAT_HINT))
    require_destination(chosen, output)
    with command_context() as ctx:
        run, later = ctx.asky.runs.find_citing(run_id)
        if later is not None:
            note_earlier(ctx.terminal, run, later)
        if bundle is not None:
            save_bytes(bundle, ctx.asky.runs.bundle(run))
            ctx.terminal.note(f"wrote run {run.id} to {bundle}; `asky runs verify {bundle}` checks it anywhere")
            return
        exported = ctx.asky.runs.export(run, chosen, output.absolute().parent if output is not None else None)
        if exported.cites_nothing:
            ctx.terminal.note(f"the answer of run {run.id} cites nothing")
        if output is None:
            print_exported(ctx.terminal, exported, chosen)
            return
        save_bytes(output, exported.data)
        ctx.terminal.note(f"wrote run {run.id} to {output}")


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def verify(call: click.Context, /, bundle: Path, as_json: bool) -> None:
    """Verify an archive written by `asky runs export --bundle`.

    Every file must match its hash, every citation's offsets must yield its quote, and every claim must appear in the
    answer. The report, bibliography and README must match the evidence. If anything is wrong, the exit code is 1.
    Verifying needs no store, configuration or network, and unpacks nothing.
    """
    try:
        if bundle.exists() and not bundle.is_file():
            raise UsageError(f"cannot read {bundle}: it is not a file")
        with bundle.open("rb") as file:
            verified = verified_object(RunService.verify(file))
    except OSError as error:
        raise UsageError(f"cannot read {bundle}: {(error.strerror or str(error)).lower()}") from error
    terminal = Terminal(out=sys.stdout, err=sys.stderr, environ=os.environ)
    if as_json:
        terminal.json(verified)
    else:
        _print_verified(terminal, verified)
    if not verified["ok"]:
        call.exit(1)


def _print_verified(terminal: Terminal, verified: Mapping[str, Any]) -> None:
    for fault in verified["faults"]:
        terminal.line(f"FAILED: {one_line(fault)}")
    if verified["ok"]:
        counts = ", ".join(
            counted(verified[key], noun)
            for key, noun in (("files", "file"), ("citations", "citation"), ("claims", "claim"))
        )
        terminal.line(f"ok: run {one_line(verified['run'] or '')}, {counts}")
        terminal.line(f"digest {one_line(verified['digest'] or '')}")
        terminal.line("the bundle is intact; compare its digest with its author's to confirm its origin")
