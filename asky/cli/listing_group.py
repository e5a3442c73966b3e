"""A group of commands that lists by default: `asky runs` is `asky runs list`."""

from __future__ import annotations

import click

_HELP = ("-h", "--help")


class ListingGroup(click.Group):
    """A group whose command `list` is meant where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names_none = not args or (args[0].startswith("-") and args[0] not in _HELP)
        return super().parse_args(ctx, ["list", *args] if names_none and not ctx.resilient_parsing else args)
