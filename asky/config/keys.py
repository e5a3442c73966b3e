"""The schema as a tree of keys: finding keys, suggesting close names, and building the dataclasses from values.

A path is a tuple of names, `("research", "max_turns")`; its dotted form quotes names as TOML requires.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from asky.config.schema import Settings

KeyPath = tuple[str, ...]

_MAX_NAME_CHARS = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A key that holds a value: with the `type` `dict`, a table without a schema.

    `default` is `dataclasses.MISSING` if the key is required.
    """

    type: Any
    optional: bool
    default: Any
    meaning: str
    low: float | None
    high: float | None
    project: bool


@dataclass(frozen=True, slots=True)
class KeyTable:
    """A key that holds a table with the keys of `cls`."""

    cls: type
    meaning: str


@dataclass(frozen=True, slots=True)
class Family:
    """A key that holds tables under names chosen by the user, each with the keys of `cls`."""

    cls: type
    meaning: str


Node = Leaf | KeyTable | Family


@functools.cache  # evaluating the annotations again for every key took 8 ms of startup
def children(cls: type) -> Mapping[str, Node]:
    """Return the keys of the dataclass `cls`, in order."""
    hints = get_type_hints(cls)
    return MappingProxyType({f.name: _node(f, hints[f.name]) for f in dataclasses.fields(cls)})


def _node(field: dataclasses.Field[Any], hint: Any) -> Node:
    meaning = field.metadata["meaning"]
    if dataclasses.is_dataclass(hint):
        return KeyTable(hint, meaning)  # type: ignore[arg-type] # a hint is the class, not an instance
    if get_origin(hint) is Mapping and dataclasses.is_dataclass(get_args(hint)[1]):
        return Family(get_args(hint)[1], meaning)
    if get_origin(hint) is Mapping:
        hint = dict
    optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    kind = next(a for a in get_args(hint) if a is not NoneType) if optional else hint
    facts = field.metadata
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return Leaf(kind, optional, default, meaning, facts["low"], facts["high"], facts["project"])


def find(path: KeyPath, root: type = Settings) -> Node | None:
    """Return the node at `path`, or `None` if there is no such key. A member of a family is a `KeyTable`."""
    node: Node | None = KeyTable(root, "")
    for name in path:
        if isinstance(node, Family):
            node = KeyTable(node.cls, node.meaning) if name else None
        elif isinstance(node, KeyTable):
            node = children(node.cls).get(name)
        else:
            return None
    return node


def leaves(cls: type = Settings, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Leaf]]:
    """Yield every key that holds a value, in schema order; a family contributes one member called `NAME`."""
    for name, node in children(cls).items():
        if isinstance(node, Leaf):
            yield (*path, name), node
        else:
            yield from leaves(node.cls, (*path, name, "NAME") if isinstance(node, Family) else (*path, name))


def nearest(path: KeyPath) -> KeyPath | None:
    """Return the valid key that the unknown `path` most likely means, or `None`.

    That is one that differs only by dots and by the tables before it (`research.cache_ttl_hours`, `embedding_model`),
    else a sibling, else that name elsewhere: a bare name stands for the least deep of several keys, and one in a table
    (`search.ddgs.base_url`) for none of several.
    """
    from difflib import get_close_matches  # only if there is an error already

    path = tuple(name[:_MAX_NAME_CHARS] for name in path)
    known = sorted((path for path, _ in leaves()), key=len, reverse=True)
    endings = {"_".join(each[start:]): each for each in known for start in range(len(each)) if "NAME" not in each}
    if (suggested := endings.get("_".join(path).lower())) is not None:
        return suggested
    for depth in range(len(path)):
        parent = find(path[:depth])
        if isinstance(parent, KeyTable) and path[depth] not in children(parent.cls):
            close = get_close_matches(path[depth], children(parent.cls), n=1)
            if close:
                return (*path[:depth], close[0])
            break
    homes = Counter(each[-1] for each in known)
    elsewhere = {each[-1]: each for each in known if len(path) == 1 or homes[each[-1]] == 1}
    close = get_close_matches(path[-1], elsewhere, n=1, cutoff=0.8)
    return elsewhere[close[0]] if close else None


def dotted(path: KeyPath) -> str:
    """Return `path` as written in TOML: names joined by dots, quoted if necessary."""
    return ".".join(name if _BARE.match(name) else _quoted(name) for name in path)


def _quoted(name: str) -> str:
    import json  # only for names that need quotes

    return json.dumps(name, ensure_ascii=False)


def build(values: Mapping[KeyPath, Any], cls: Any = Settings, path: KeyPath = ()) -> Any:
    """Build the dataclass `cls` from the given values below `path` and defaults elsewhere.

    Raises `TypeError` if a required key is missing; `missing` finds those first.
    """
    arguments: dict[str, Any] = {}
    for name, node in children(cls).items():
        here = (*path, name)
        if isinstance(node, KeyTable):
            arguments[name] = build(values, node.cls, here)
        elif isinstance(node, Family):
            members = {m: build(values, node.cls, (*here, m)) for m in members_of(values, here)}
            arguments[name] = MappingProxyType(members)
        elif here in values:
            arguments[name] = values[here]
    return cls(**arguments)


def members_of(values: Mapping[KeyPath, Any], family: KeyPath) -> list[str]:
    """Return the names used below the family's path, in order of first use."""
    depth = len(family)
    return list(dict.fromkeys(p[depth] for p in values if len(p) > depth and p[:depth] == family))


def missing(values: Mapping[KeyPath, Any], cls: type = Settings, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield required keys that have no value, in schema order."""
    for name, node in children(cls).items():
        here = (*path, name)
        if isinstance(node, KeyTable):
            yield from missing(values, node.cls, here)
        elif isinstance(node, Family):
            for member in members_of(values, here):
                yield from missing(values, node.cls, (*here, member))
        elif node.default is dataclasses.MISSING and here not in values:
            yield here
