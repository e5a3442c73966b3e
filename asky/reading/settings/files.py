"""YAML, TOML, INI and JSON Lines: one line for each value under its full path, as for JSON.

In YAML and TOML the comment above a value, or at the end of its line, is kept at the end of the value's line.

A file that is not valid, such as a template with `{{ }}` in it, is read as plain text: people ask about those too.
"""

from __future__ import annotations

import configparser
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.reading import plain_text
from asky.reading.charset import decode
from asky.reading.settings.comments import YamlComments, toml_comments
from asky.reading.settings.json_tree import Pairs, parse_json, value_lines
from asky.reading.text_builder import TextBuilder
from asky.values import Document

if TYPE_CHECKING:
    import yaml

_MAX_VALUES = 500_000  # aliases can make a small YAML file endless


class _TooManyValues(ValueError):
    """A file has more values than anybody has written down."""


def read_yaml(data: bytes, name: str) -> Document:
    """Return the values of all documents of a YAML file, scalars as they are written; aliases are followed."""
    import yaml  # 15 ms: only if there is YAML to read

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = decode(data)
    try:
        budget = iter(range(_MAX_VALUES))
        comments = YamlComments(text)
        roots, notes = [], []
        for node in yaml.compose_all(text, Loader=loader):
            if node:
                comments.by_path = {}
                roots.append(_yaml_value(node, budget, (), comments, ""))
                notes.append(comments.by_path)
    except (yaml.YAMLError, ValueError, RecursionError):
        return plain_text.read(data, name)
    return _build(roots, "application/yaml", notes)


def read_toml(data: bytes, name: str) -> Document:
    """Return the values of a TOML file; dates and times in ISO 8601."""
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found,unused-ignore] # installed where it is needed
    text = decode(data).replace("\r\n", "\n")
    try:
        root = tomllib.loads(text, parse_float=str)
    except (tomllib.TOMLDecodeError, RecursionError):
        return plain_text.read(data, name)
    return _build([_pairs(root)], "application/toml", [toml_comments(text)])


def read_ini(data: bytes, name: str) -> Document:
    """Return the values of an INI file under `section.key`; interpolation is not applied."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    try:
        parser.read_string(decode(data))
    except configparser.Error:
        return plain_text.read(data, name)
    sections = [(name, Pairs((key, value or "") for key, value in parser.items(name))) for name in parser.sections()]
    root = Pairs([*parser.defaults().items(), *sections])
    return _build([root], "text/x-ini") if root else plain_text.read(data, name)


def read_json_lines(data: bytes, name: str) -> Document:
    """Return the values of a file with one JSON value on each line; a line that is not JSON stays as it is."""
    records = []
    for line in decode(data).splitlines():
        if line.strip():
            try:
                records.append(parse_json(line, name))
            except Exception:  # noqa: BLE001 - SourceUnreadable: the line stays
                records.append(line.strip())
    return _build([records], "application/jsonl")


def _yaml_value(
    node: yaml.Node, budget: Iterator[int], above: tuple[int, ...], comments: YamlComments, path: str
) -> object:
    import yaml

    if next(budget, None) is None or id(node) in above:
        raise _TooManyValues
    inside = (*above, id(node))
    if isinstance(node, yaml.MappingNode):
        members = Pairs()
        for key, value in node.value:
            name = _key(key)
            below = f"{path}.{name}" if path else name
            comments.add(below, key, value)
            members.append((name, _yaml_value(value, budget, inside, comments, below)))
        return members
    if isinstance(node, yaml.SequenceNode):
        values = []
        for number, value in enumerate(node.value):
            below = f"{path}[{number}]"
            comments.add(below, value, value)
            values.append(_yaml_value(value, budget, inside, comments, below))
        return values
    return str(node.value)


def _key(node: yaml.Node) -> str:
    return str(node.value) if isinstance(node.value, str) else "?"


def _pairs(value: Any) -> object:
    if isinstance(value, dict):
        return Pairs((key, _pairs(each)) for key, each in value.items())
    if isinstance(value, list):
        return [_pairs(each) for each in value]
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _build(roots: list[object], media_type: str, comments: Sequence[Mapping[str, str]] = ()) -> Document:
    builder = TextBuilder()
    for number, root in enumerate(roots):
        if number:
            builder.add("\n")
        for line in value_lines(root, comments[number] if comments else None):
            builder.add(line)
    return builder.build(media_type)
