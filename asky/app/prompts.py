"""Sources of a question's text: saved prompts, prompt files and pipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from asky.chat.prompt_files import decode_prompt as decode_prompt
from asky.chat.prompt_files import read_prompt_file as read_prompt_file
from asky.chat.saved_prompts import expand as _expand
from asky.chat.saved_prompts import names_prompt as names_prompt
from asky.chat.saved_prompts import template_of
from asky.errors import UsageError
from asky.reading.charset import decode, has_mark


def expand_prompt(text: str, prompts: Mapping[str, str], environ: Mapping[str, str], *, in_chat: bool = False) -> str:
    """Return `text`, which names one of the saved `prompts`, expanded; see `asky.chat.saved_prompts.expand`."""
    return _expand(text, prompts, read_file=lambda uri: read_prompt_file(uri, environ), in_chat=in_chat)


def find_prompt_errors(prompts: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[UsageError]:
    """Yield an error for each file of a saved prompt that cannot be read."""
    for name, text in prompts.items():
        try:
            template_of(name, text, lambda uri: read_prompt_file(uri, environ))
        except UsageError as error:
            yield error


def decode_attachment(data: bytes, shown: str = "standard input") -> str:
    """Return the text of an attachment in any charset. Raises `UsageError`, which names `shown`, if it is not text."""
    if b"\0" in data and not has_mark(data):
        raise UsageError(f"{shown} is not text", hint="save it to a file, and name the file with -d")
    return decode(data)
