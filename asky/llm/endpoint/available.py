"""Models that could answer although none is configured: keys that are set, and model servers on this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from asky.errors import AskyError
from asky.llm.endpoint.model_list import list_models
from asky.net.addresses import is_loopback
from asky.net.plain_get import is_listening

if TYPE_CHECKING:
    from asky.config.schema import Provider


_NO_WRITER = re.compile(r"embed|rerank|whisper|tts|bge-|minilm", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AvailableProvider:
    """A provider that could answer: the variable `key_variable` of its key is set, or it runs on this machine.

    `model_ids` are those that a local server lists; of another it is empty, as nothing was sent to it.
    """

    name: str
    place: str
    key_variable: str | None
    model_ids: Sequence[str] = ()

    def offer(self) -> str:
        """Return a note that says how to let it answer."""
        if self.key_variable is not None:
            return (
                f"{self.key_variable} is set: `asky models default {self.name}:MODEL_ID` lets a model of {self.name}"
                " answer; `asky setup` lists them"
            )
        return f"{self.name} runs at {self.place}: `asky models default {self.first_model}` lets that model answer"

    @property
    def first_model(self) -> str:
        """The name of the first model that is not one for embeddings alone, as `-m` takes it."""
        writing = (each for each in self.model_ids if not _NO_WRITER.search(each))
        return f"{self.name}:{next(writing, self.model_ids[0])}"


def find_available(
    providers: Mapping[str, Provider], environ: Mapping[str, str], *, timeout_s: float = 0.5
) -> list[AvailableProvider]:
    """Return the providers that could answer now: those whose key is set, then model servers on this machine.

    Only this machine is contacted. What answers at the usual port of a server but lists no models is none.
    """
    keyed = [
        AvailableProvider(name, urlsplit(each.base_url).netloc, each.api_key_env)
        for name, each in providers.items()
        if each.api_key_env is not None and environ.get(each.api_key_env, "").strip()
    ]
    running = []
    for name, each in providers.items():
        if (
            each.api_key_env is None
            and is_loopback(urlsplit(each.base_url).hostname or "")
            and is_listening(each.base_url)
        ):
            with suppress(AskyError):
                if ids := list_models(each.base_url, timeout_s=timeout_s):
                    running.append(AvailableProvider(name, urlsplit(each.base_url).netloc, None, ids))
    return keyed + running
