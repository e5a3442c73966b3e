"""`asky models`: list, show and test models; set the default."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from asky.app.models import set_default
from asky.app.schemas.model import default_model_object, model_object, models_object
from asky.cli.context import command_context
from asky.cli.listing_group import ListingGroup
from asky.cli.model_test_view import test_model
from asky.cli.options import complete_model, json_option
from asky.cli.terminal.terminal import Terminal, json_text, one_line, say
from asky.config.paths import current_folder

if TYPE_CHECKING:
    from asky.app.models import ListedModel, ListedProvider, ModelCatalog

_DIM = 2
_MAX_COLUMN_CHARS = 56
_HANG = 4


@click.group(cls=ListingGroup)
def models() -> None:
    """List, show and test models, and choose the default.

    A model is an alias from models.toml, or PROVIDER:MODEL_ID with a provider from that file. API keys are never shown.
    """


@models.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List aliases and providers with their addresses, prices and whether their keys are set."""
    with command_context(as_json=as_json) as ctx:
        catalog = ctx.asky.models.list()
        if as_json:
            ctx.terminal.json(models_object(catalog))
        else:
            _print_catalog(ctx.terminal, catalog)


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
