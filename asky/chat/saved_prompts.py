"""Saved prompts: `/name` at the beginning of a question is replaced by a configured text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from asky.config.prompts import FILE_PREFIX, MAX_QUESTION_CHARS
from asky.errors import UsageError

INPUT = "input"
"""The placeholder for the text after the name."""

_CALL = re.compile(r"/([A-Za-z0-9_-]{1,64})(?:\s+|\Z)")
_PLACEHOLDER = re.compile(r"\{\{[ \t]*([A-Za-z0-9_-]{1,64})[ \t]*\}\}")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', re.DOTALL)
_VERY_NEAR = 0.8


def names_prompt(text: str) -> bool:
    """Return whether `text` begins with `/` and a plain name, and so may call a saved prompt."""
    return _CALL.match(text) is not None


def expand(text: str, prompts: Mapping[str, str], *, read_file: Callable[[str], str], in_chat: bool = False) -> str:
    """Return `text`, or for `/name rest` the prompt of that name with its placeholders filled.

    `{{input}}` is replaced by the rest, which is otherwise appended after a blank line. Any other `{{placeholder}}` is
    replaced by the value of a word `placeholder=value` in the rest; a value with spaces is quoted. Placeholders in the
    values are not expanded. `read_file` returns the text of a prompt that is a `file://` address.

    A text whose first word is not a configured name is an ordinary question, such as one about `/etc`. But a name that
    closely resembles a configured one, such as the same in capitals, is treated as a typing error, because the wrong
    question may be a paid call. With `in_chat`, every plain name must be configured: it is typed like a command.

    Raises `UsageError` for an unknown name, a placeholder without a value, an unclosed quote, a value given twice, and
    a result of more than `MAX_QUESTION_CHARS` characters.
    """
    call = _CALL.match(text)
    if call is None:
        return text
    name, rest = call[1], text[call.end() :].strip()
    if name not in prompts:
        _check_unknown(name, prompts, in_chat=in_chat)
        return text
    if len(rest) > MAX_QUESTION_CHARS:
        raise _too_long(name, len(rest))
    template = prompts[name]
    return _filled(name, template_of(name, template, read_file), rest)


def template_of(name: str, text: str, read_file: Callable[[str], str]) -> str:
    """Return the template of the prompt configured as `text`, which may be the address of a file.

    Raises `UsageError` with the prompt's name if `read_file` does.
    """
    if not text.startswith(FILE_PREFIX):
        return text
    try:
        return read_file(text)
    except UsageError as error:
        raise UsageError(f"the saved prompt /{name}: {error.message}", hint=f"prompts.{name} names the file") from error


def _check_unknown(name: str, prompts: Mapping[str, str], *, in_chat: bool) -> None:
    near = get_close_matches(name.lower(), prompts, n=1, cutoff=0.0 if in_chat else _VERY_NEAR)
    if in_chat:
        raise UsageError(
            f"there is no /{name}", hint=f"the nearest saved prompt is /{near[0]}" if near else "no prompt is saved"
        )
    if near:
        raise UsageError(
            f"there is no saved prompt /{name}",
            hint=f"did you mean /{near[0]}? If it is part of your question, begin with another word",
        )


def _filled(name: str, template: str, rest: str) -> str:
    wanted = dict.fromkeys(match[1] for match in _PLACEHOLDER.finditer(template))
    values, rest = _take_values(name, rest, [each for each in wanted if each != INPUT])
    if rest:
        values[INPUT] = rest
    for placeholder in wanted:
        if placeholder not in values:
            how = f"/{name} ..." if placeholder == INPUT else f'/{name} {placeholder}="..."'
            raise UsageError(f"/{name} needs a value for {{{{{placeholder}}}}}", hint=f"write: {how}")
    if INPUT not in wanted and rest:
        template += f"\n\n{{{{{INPUT}}}}}"
    size = len(template) + sum(len(values[match[1]]) for match in _PLACEHOLDER.finditer(template))
    if size > 2 * MAX_QUESTION_CHARS:  # the template counts its placeholders too
        raise _too_long(name, size)
    filled = _PLACEHOLDER.sub(lambda match: values[match[1]], template).strip()
    if len(filled) > MAX_QUESTION_CHARS:
        raise _too_long(name, len(filled))
    return filled


def _take_values(name: str, rest: str, wanted: list[str]) -> tuple[dict[str, str], str]:
    """Return the values of `wanted` in `rest`, and the other text in it."""
    values: dict[str, str] = {}
    if not wanted:
        return values, rest
    word = re.compile(rf"(?<!\S)({'|'.join(map(re.escape, wanted))})=")
    kept, at = [], 0
    while (match := word.search(rest, at)) is not None:
        value, end = _value(name, rest, match)
        if match[1] in values:
            raise UsageError(f"/{name}: {match[1]} is given twice")
        values[match[1]] = value
        kept.append(rest[at : match.start()])
        at = len(rest) - len(rest[end:].lstrip(" \t"))
    return values, "".join([*kept, rest[at:]]).strip()


def _value(name: str, rest: str, match: re.Match[str]) -> tuple[str, int]:
    """Return the value that begins where `match` ends, and its end."""
    if rest[match.end() : match.end() + 1] in ('"', "'"):
        quoted = _QUOTED.match(rest, match.end())
        if quoted is None:
            raise UsageError(f"/{name}: the quoted value of {match[1]} is not closed")
        inner = re.sub(r"\\([\"\\])", r"\1", quoted[1]) if quoted[1] is not None else quoted[2]
        return inner, quoted.end()
    plain = re.compile(r"\S*").match(rest, match.end())
    assert plain is not None
    return plain[0], plain.end()


def _too_long(name: str, chars: int) -> UsageError:
    return UsageError(
        f"/{name} expands to a question of about {chars:,} characters; the limit is {MAX_QUESTION_CHARS:,}",
        hint="put long text into a file and pass it with -d, or pipe it in with a short question",
    )
