"""The subset of JSON Schema for the parameters of tools, built-in and user-defined.

A schema may contain `type` (one of string, integer, number, boolean, array, object), `description`, `default` (shown to
the model, never filled in), `enum`, `properties`, `required`, `additionalProperties: false`, `items`, `minimum`,
`maximum`, `minLength`, `maxLength`, `minItems` and `maxItems`. Anything else is refused when the tool is created, so
that no rule goes unenforced; `asky.llm.arguments` enforces these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

TYPES: Mapping[str, type | tuple[type, ...]] = MappingProxyType(
    {
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "array": list,
        "object": dict,
    }
)
"""The types of a schema, with their Python types."""

_FOR_ANY = {"type", "description", "default", "enum"}
_FOR_TYPE: Mapping[str, set[str]] = MappingProxyType(
    {
        "string": {"minLength", "maxLength"},
        "integer": {"minimum", "maximum"},
        "number": {"minimum", "maximum"},
        "boolean": set(),
        "array": {"items", "minItems", "maxItems"},
        "object": {"properties", "required", "additionalProperties"},
    }
)
_MAX_DEPTH = 16
_MAX_SHOWN_CHARS = 40


def check_schema(schema: object, where: str = "parameters") -> None:
    """Raise `ValueError` naming the place if `schema` has a keyword that is not enforced, or an invalid one."""
    _check(schema, where, _MAX_DEPTH)


def _check(schema: object, where: str, depth: int) -> None:
    if depth == 0:
        raise ValueError(f"{where[:_MAX_SHOWN_CHARS]}: nested deeper than {_MAX_DEPTH} levels")
    if not isinstance(schema, Mapping):
        raise ValueError(f"{where}: must be a table")  # noqa: TRY004 - whoever calls catches one error
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"{where}: type must be one of {', '.join(TYPES)}, not {_shown(kind)}")
    unknown = sorted(set(schema) - _FOR_ANY - _FOR_TYPE[kind])
    if unknown:
        raise ValueError(f"{where}: {_shown(unknown[0])} is not understood for type {kind}")
    for word, (is_fine, form) in _FORMS.items():
        if word in schema and not is_fine(schema[word]):
            raise ValueError(f"{where}: {word} must be {form}")
    if schema.get("additionalProperties", False) is not False:
        raise ValueError(f"{where}: additionalProperties can only be false")
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in properties:
            raise ValueError(f"{where}: {_shown(name)} is required but not among the properties")
    for name, inner in properties.items():
        _check(inner, f"{where}.{name}", depth - 1)
    if "items" in schema:
        _check(schema["items"], f"{where}[]", depth - 1)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_choice(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value)


def _is_names(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


_NUMBER: tuple[Callable[[object], bool], str] = (_is_number, "a number")
_COUNT: tuple[Callable[[object], bool], str] = (_is_count, "a whole number of 0 or more")
_FORMS: Mapping[str, tuple[Callable[[object], bool], str]] = MappingProxyType(
    {
        "description": (lambda value: isinstance(value, str), "text"),
        "enum": (_is_choice, "a list that is not empty"),
        "properties": (lambda value: isinstance(value, Mapping), "a table"),
        "required": (_is_names, "a list of names"),
        "minimum": _NUMBER,
        "maximum": _NUMBER,
        "minLength": _COUNT,
        "maxLength": _COUNT,
        "minItems": _COUNT,
        "maxItems": _COUNT,
    }
)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "..."
