"""`asky models`: list, show and test models, set the default; download and remove those that run here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from asky.app.models import set_default
from asky.app.schemas.model import (
    default_model_object,
    local_model_object,
    model_object,
    models_object,
    removed_model_object,
)
from asky.cli.context import command_context
from asky.cli.listing_group import ListingGroup
from asky.cli.model_test_view import test_model
from asky.cli.options import complete_downloadable, complete_downloaded, complete_model, json_option
from asky.cli.terminal.confirm import is_confirmed
from asky.cli.terminal.terminal import Terminal, json_text, one_line, say
from asky.config.paths import current_folder
from asky.text.counting import format_bytes

if TYPE_CHECKING:
    from asky.app.local_models import HubModel, LocalModel
    from asky.app.models import ListedModel, ListedProvider, ModelCatalog

_DIM = 2
_MAX_COLUMN_CHARS = 56
_HANG = 4
_KEYS = {
    "answers": "research.reader.answers",
    "verdicts": "research.reader.verdicts",
    "embedding": "research.embedding.model",
}


@click.group(cls=ListingGroup)
def models() -> None:
    """List, show and test models, choose the default, and download readers.

    A model is an alias from models.toml, or PROVIDER:MODEL_ID with a provider from that file. API keys are never shown.
    Readers and the embedding model run on this machine: ORGANISATION/MODEL on the Hugging Face hub.
    """


@models.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List aliases and providers with addresses, prices and whether keys are set, and the models on this machine."""
    with command_context(as_json=as_json) as ctx:
        catalog, local = ctx.asky.models.list(), ctx.asky.local_models.list()
        if as_json:
            ctx.terminal.json(models_object(catalog, local))
            return
        _print_catalog(ctx.terminal, catalog)
        ctx.terminal.line()
        _print_table(ctx.terminal, _local_rows(local))
        _note_problems(ctx.terminal, local)


def _print_catalog(terminal: Terminal, catalog: ModelCatalog) -> None:
    rows = map(_model_row, catalog.models)
    _print_table(terminal, [("  MODEL", "PROVIDER", "ID", "CONTEXT", "PRICE", "KEY"), *rows])
    if any(each.context_is_assumed for each in catalog.models):
        terminal.note("~ is assumed: the model's entry sets no context_tokens")
    terminal.line()
    providers = [(f"  {each.name}:MODEL_ID", each.base_url, _key_state(each)) for each in catalog.providers]
    _print_table(terminal, [("  PROVIDER", "ADDRESS", "KEY"), *providers])
    if not any(each.is_default for each in catalog.models):
        terminal.note(f"the default model {one_line(catalog.default)!r} does not exist; see: asky config validate")


def _model_row(model: ListedModel) -> tuple[str, ...]:
    context, prices = model.context_tokens, model.prices
    return (
        f"{'*' if model.is_default else ' '} {model.alias}",
        model.provider,
        model.id or "-",
        "-" if context is None else f"{'~' if model.context_is_assumed else ''}{context:,}",
        "-" if prices is None else f"{prices['input']:g} / {prices['output']:g}",
        _key_state(model),
    )


def _key_state(each: ListedModel | ListedProvider) -> str:
    if each.key_is_set is None:
        return "not needed"
    return "yes" if each.key_is_set else f"no: {each.api_key_env} is not set"


def _print_table(terminal: Terminal, rows: Sequence[tuple[str, ...]]) -> None:
    """Print columns as wide as they need to be, one line per row; the first row is the heading."""
    cells = [[_cell(text) for text in row] for row in rows]
    widths = [min(_MAX_COLUMN_CHARS, max(map(len, column))) for column in zip(*cells, strict=True)]
    for number, row in enumerate(cells):
        line = "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        terminal.line(line, *([_DIM] if number == 0 else []), hang=_HANG)


def _cell(text: str) -> str:
    """Return `text` on one line, keeping a two-character prefix of a mark or spaces."""
    return text[:2] + one_line(text[2:]) if text.startswith(("* ", "  ")) else one_line(text)


def _local_rows(models: Sequence[LocalModel]) -> list[tuple[str, ...]]:
    """Return a row for each model, the heading first; a star marks what is in use."""
    rows = [(_marked(each), ", ".join(each.uses) or "-", _size(each), _where(each)) for each in models]
    return [("  ON THIS MACHINE", "FOR", "SIZE", "WHERE"), *rows]


def _note_problems(terminal: Terminal, models: Sequence[LocalModel]) -> None:
    """Say what is wrong with each model that can't be used, and which keys name it."""
    for each in models:
        if each.problem is not None:
            keys = f" ({', '.join(each.used_by)})" if each.used_by else ""
            terminal.note(f"{one_line(each.name)}{keys}: {one_line(each.problem)}")


def _print_plan(terminal: Terminal, model: HubModel, folder: str) -> None:
    """Say what would be downloaded, from where and to where."""
    licence = f", licence {one_line(model.licence)}" if model.licence else ", without a stated licence"
    terminal.note(f"{one_line(model.name)} for {' and '.join(model.uses)}{licence}")
    terminal.note(f"from {one_line(model.host)}, commit {model.commit[:12]}, to {one_line(folder)}:")
    for each in model.files:
        terminal.note(f"  {format_bytes(each.size):>10}  {one_line(each.path)}")


def _marked(model: LocalModel) -> str:
    return f"{'*' if model.used_by else ' '} {model.name}"


def _size(model: LocalModel) -> str:
    return format_bytes(model.bytes) if model.bytes else "-"


def _where(model: LocalModel) -> str:
    return "part of asky" if model.source == "asky" else "-" if model.path is None else str(model.path)


@models.command()
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@json_option
def show(model: str, as_json: bool) -> None:
    """Print every setting of MODEL and where it comes from."""
    with command_context(as_json=as_json) as ctx:
        found = ctx.asky.models.show(model)
        if as_json:
            ctx.terminal.json(model_object(found))
            return
        lines = [
            (f"{each.name} = {json_text(each.value)}", str(each.origin or "default") if each.is_key else "")
            for each in found.properties
        ]
        width = min(_MAX_COLUMN_CHARS, max(len(value) for value, _ in lines))
        for value, origin in lines:
            ctx.terminal.line(f"{value:<{width}}  # {one_line(origin)}" if origin else value, hang=_HANG)


@models.command()
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_model)
@json_option
def test(model: str | None, as_json: bool) -> None:
    """Make a small real call with a tool and report what MODEL's endpoint can do.

    Tests the default model if MODEL is omitted, and costs about as much as a short question. If the call fails for a
    reason other than the key, it is repeated with the official openai client, if that is installed, to find the cause.
    """
    with command_context(as_json=as_json) as ctx:
        test_model(ctx, model, as_json=as_json)


@models.command()
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_model)
@json_option
def default(model: str | None, as_json: bool) -> None:
    """Print the default model, or set it to MODEL in your models.toml."""
    if model is not None:
        file = set_default(model, environ=os.environ, cwd=current_folder())
        if not as_json:
            say(f"set default in {one_line(str(file))}")
    with command_context(as_json=as_json) as ctx:
        found = ctx.asky.models.default(model)
        if as_json:
            ctx.terminal.json(default_model_object(found))
            return
        if model is None:
            ctx.terminal.line(found.name)
            ctx.terminal.note(f"({one_line(str(found.origin))})")
        for note in found.notes:
            ctx.terminal.note(note)


@models.command()
@click.argument("name", shell_complete=complete_downloadable)
@click.option("-y", "--yes", is_flag=True, help="Download without asking.")
@click.option("--offline", is_flag=True, help="Never touch the network; say whether the model is here.")
@json_option
def get(name: str, yes: bool, offline: bool, as_json: bool) -> None:
    """Download the model NAME from the Hugging Face hub: a reader or an embedding model, in the ONNX format.

    Shows host, files and sizes, and asks for confirmation unless --yes is given. Sizes and hashes are compared with
    those that the hub states; a download that broke off is continued. No token is sent. HF_ENDPOINT names another hub.
    """
    with command_context(as_json=as_json) as ctx:
        local = ctx.asky.local_models
        found, is_new = local.find(name), False
        if found is None:
            plan = ctx.run(lambda: local.look_up(name, offline=offline))
            show = partial(_print_plan, ctx.terminal, plan, str(local.folder))
            what = f"{format_bytes(plan.bytes)} from {one_line(plan.host)}"
            if yes:
                show()
            elif not is_confirmed(f"Download {what}?", f"download {what}", show):
                ctx.terminal.note("nothing was downloaded")
                return
            found, is_new = ctx.run(lambda: local.get(plan, listener=ctx.progress)), True
        if as_json:
            ctx.terminal.json(local_model_object(found, is_new=is_new))
            return
        ctx.terminal.line(f"{one_line(found.name)} is {'now' if is_new else 'already'} in {one_line(str(found.path))}")
        if is_new and not found.used_by:
            for use in found.uses:
                ctx.terminal.note(f"use it: asky config set {_KEYS[use]} {one_line(found.name)}")


@models.command()
@click.argument("name", shell_complete=complete_downloaded)
@json_option
def rm(name: str, as_json: bool) -> None:
    """Remove the model NAME, which `asky models get` has downloaded."""
    with command_context(as_json=as_json) as ctx:
        removed = ctx.asky.local_models.remove(name)
        if as_json:
            ctx.terminal.json(removed_model_object(removed))
            return
        ctx.terminal.note(f"removed {one_line(removed.name)}: {format_bytes(removed.bytes)}")
        for key in removed.used_by:
            ctx.terminal.note(f"{key} still names it")
