"""`asky verify`: each sentence of a text, judged against documents. No model is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from asky.app.verify.values import VerifyRequest
from asky.cli.context import command_context
from asky.cli.options import DocumentPath, json_option, piped_text, verbosity_options
from asky.cli.saving import require_writable
from asky.cli.verified_view import print_verified, write_verified
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.app.requests import DocumentName

_MAX_INPUT_BYTES = 32 << 20


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "-d",
    "--docs",
    type=DocumentPath(),
    multiple=True,
    help="Verify against this file, folder or adapter's target (repeatable).",
)
@click.option("--collection", multiple=True, help="Verify against this `asky corpus` collection (repeatable).")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with code 12 if a sentence is unsupported, contradicted or cites what does not say it.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Also write the result to PATH: a page (.html) or .json."
)
@json_option
@verbosity_options
def verify(
    file: Path,
    docs: tuple[DocumentName, ...],
    collection: tuple[str, ...],
    strict: bool,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Judge each sentence of FILE against documents: its verdict, the passage that decides, and why.

    FILE is Markdown, HTML, Word, PDF, plain text or another document; "-" reads Markdown or plain text from standard
    input. A sentence that cites one of the documents is judged against that one. No model is called.
    """
    if output is not None:
        _check_output(output)
    request = _request(file, docs, collection)
    with command_context(quiet=quiet, verbose=verbose, as_json=as_json) as ctx:
        service = ctx.asky.verify
        verified = ctx.run(lambda: service.verify(request))
        try:
            if output is not None:
                write_verified(output, verified, service)
        finally:  # print the result even if its file cannot be written
            print_verified(ctx.terminal, verified, as_json=as_json)
        if strict:
            service.raise_for_outcome(verified)


def _request(file: Path, docs: tuple[DocumentName, ...], collection: tuple[str, ...]) -> VerifyRequest:
    if str(file) != "-":
        return VerifyRequest(text=file, documents=docs, collections=collection)
    text = piped_text(_MAX_INPUT_BYTES)
    if len(text) > _MAX_INPUT_BYTES:
        raise UsageError(f"more than {_MAX_INPUT_BYTES >> 20} MiB on standard input", hint="name a file")
    return VerifyRequest(text=text, documents=docs, collections=collection)


def _check_output(path: Path) -> None:
    if path.suffix.lower() not in (".html", ".json"):
        raise UsageError(f"{path}: not .html or .json", hint="for example: -o report.html")
    require_writable(path)
