"""`asky models`: which models there are, what applies to each, and whether its endpoint does what asky needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from asky.cli.options import complete_model, json_option
from asky.cli.surroundings import configured, current_folder
from asky.cli.terminal import Terminal, json_text, one_line
from asky.config.loader import Config
from asky.errors import AskyError

_DIM = 2
_WIDEST = 56


@click.group()
def models() -> None:
    """List, show and test models, and choose the default.

    A model is an alias of models.toml, or PROVIDER:MODEL_ID with a provider of that file. The value of a key is never
    shown.
    """


@models.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List aliases and providers: where they are, what they cost, whether their keys are set."""
    from asky.cli.model_facts import describe_models, describe_providers  # not for --help

    config = configured()
    terminal = _terminal(config)
    aliases, providers = describe_models(config, os.environ), describe_providers(config, os.environ)
    if as_json:
        known = {"default": config.default, "models": aliases, "providers": providers}
        terminal.json({"schema": "asky.models/1", **known})
        return
    _print_table(terminal, [("  MODEL", "PROVIDER", "ID", "CONTEXT", "PRICE", "KEY"), *map(_model_row, aliases)])
    if any(each["context_is_assumed"] for each in aliases):
        terminal.note("~ is assumed: the model's entry does not say how much it reads")
    terminal.line()
    rows = [(f"  {each['name']}:MODEL_ID", each["base_url"], _key_state(each)) for each in providers]
    _print_table(terminal, [("  PROVIDER", "ADDRESS", "KEY"), *rows])
    if not any(each["default"] for each in aliases):
        terminal.note(f"the default model {one_line(config.default)!r} is not there; see: asky config validate")


def _model_row(each: dict[str, Any]) -> tuple[str, ...]:
    context, prices = each["context_tokens"], each["prices"]
    return (
        f"{'*' if each['default'] else ' '} {each['alias']}",
        each["provider"],
        each["id"] or "-",
        "-" if context is None else f"{'~' if each['context_is_assumed'] else ''}{context:,}",
        "-" if prices is None else f"{prices['input']:g} / {prices['output']:g}",
        _key_state(each),
    )


def _key_state(each: dict[str, Any]) -> str:
    if each["key_is_set"] is None:
        return "not needed"
    return "yes" if each["key_is_set"] else f"no: {each['api_key_env']} is not set"


def _print_table(terminal: Terminal, rows: Sequence[tuple[str, ...]]) -> None:
    """Columns of one line each, as wide as they need to be; the first row is the heading."""
    cells = [[_cell(text) for text in row] for row in rows]
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*cells, strict=True)]
    for number, row in enumerate(cells):
        line = "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        terminal.out.write(terminal.paint(line, *([_DIM] if number == 0 else [])) + "\n")


def _cell(text: str) -> str:
    """`text` on one line; the two characters in front, a mark or spaces, stay."""
    return text[:2] + one_line(text[2:]) if text.startswith(("* ", "  ")) else one_line(text)


@models.command()
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@json_option
def show(model: str, as_json: bool) -> None:
    """Print all that applies to MODEL, and where it comes from."""
    from asky.cli.model_facts import list_facts  # not for --help

    config = configured()
    chosen = config.model(model)
    facts = list(list_facts(config, chosen, os.environ))
    terminal = _terminal(config)
    if as_json:
        origins = {f.name: _origin_json(f.origin) for f in facts if f.origin is not None}
        values = {f.name: f.value for f in facts}
        known = {"alias": chosen.name, "default": chosen.name == config.default, **values, "origins": origins}
        terminal.json({"schema": "asky.model/1", **known})
        return
    lines = [(f"{f.name} = {json_text(f.value)}", str(f.origin or "default") if f.is_key else "") for f in facts]
    width = min(_WIDEST, max(len(value) for value, _ in lines))
    for value, origin in lines:
        terminal.line(f"{value:<{width}}  # {one_line(origin)}" if origin else value)


def _origin_json(origin: Any) -> dict[str, Any]:
    return {"layer": origin.layer, "source": origin.source, "line": origin.line}


@models.command()
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_model)
@json_option
def test(model: str | None, as_json: bool) -> None:
    """Make a tiny real call with a tool, and say what the endpoint of MODEL can do.

    Without MODEL the default one is tested. It costs about as much as a short question. A call that fails for another
    reason than the key is made once more with the official openai client, to see whose fault it is.
    """
    from asky.cli.model_trial import try_model  # the network: only for this command
    from asky.cli.workbench import workbench

    with workbench(as_json=as_json) as bench:
        try_model(bench, model, as_json=as_json)


@models.command()
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_model)
@json_option
def default(model: str | None, as_json: bool) -> None:
    """Print the default model, or make MODEL the default in your own models.toml."""
    if model is not None:
        _set_default(model, quiet=as_json)
    config = configured()
    terminal = _terminal(config, quiet=as_json)
    origin = config.origins.get("default")
    if as_json:
        terminal.json({"schema": "asky.default_model/1", "default": config.default, "origin": _origin_json(origin)})
        return
    if model is None:
        terminal.line(config.default)
        terminal.note(f"({one_line(str(origin))})")
    for note in _notes_on_default(config, model):
        terminal.note(note)


def _set_default(model: str, *, quiet: bool) -> None:
    from asky.config.changing import set_value  # only for this command

    file = set_value("default", model, environ=os.environ, cwd=current_folder())
    if not quiet:
        click.echo(f"set default in {one_line(str(file))}", err=True)


def _notes_on_default(config: Config, wanted: str | None) -> Iterator[str]:
    if wanted is not None and config.default != wanted:
        yield f"note: here it is overridden by {one_line(str(config.origins['default']))}"
    try:
        chosen = config.model(wanted)
    except AskyError as error:
        yield f"note: {error.message}"
        return
    if chosen.has_key(os.environ) is False:
        yield f"note: its key is not set: export {chosen.api_key_env}=..."


def _terminal(config: Config, *, quiet: bool = False) -> Terminal:
    return Terminal(out=sys.stdout, err=sys.stderr, environ=os.environ, color=config.ui.color, quiet=quiet)
