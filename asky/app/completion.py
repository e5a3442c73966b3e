"""Names for shell completion: models, prompts, keys, notes, and stored sessions, runs and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from asky.agent.modes import AGENT
from asky.config.paths import resolve_paths

if TYPE_CHECKING:
    from asky.config.loader import Config
    from asky.wiring import Services

_MAX_STORED = 200  # more is of no use in a shell


class CompletionService:
    """Lists the names that begin with `typed`. No store is created if there is none."""

    def __init__(self, config: Config, environ: Mapping[str, str], services: Callable[[], Services]) -> None:
        self._config = config
        self._environ = environ
        self._services = services

    def models(self, typed: str) -> list[str]:
        """Return the model aliases."""
        return _matching(self._config.models, typed)

    def prompts(self, typed: str) -> list[str]:
        """Return the saved prompts, as `/NAME`."""
        return _matching((f"/{name}" for name in self._config.prompts), typed)

    def keys(self, typed: str) -> list[str]:
        """Return the configuration keys."""
        from asky.config.listing import list_values  # for keys only

        return _matching((each.key for each in list_values(self._config, self._environ)), typed)

    def sessions(self, typed: str) -> list[str]:
        """Return the session names, most recently used first."""
        return self._stored(typed, lambda services: services.sessions.names().values())

    def runs(self, typed: str) -> list[str]:
        """Return the ids of the last runs, newest first."""
        return self._stored(typed, lambda services: (run.id for run in services.runs.recent(limit=_MAX_STORED)))

    def research(self, typed: str) -> list[str]:
        """Return the ids of the last runs of the research agent, newest first."""
        return self._stored(
            typed, lambda services: (run.id for run in services.runs.recent(limit=_MAX_STORED) if run.mode == AGENT)
        )

    def pages(self, typed: str) -> list[str]:
        """Return the URLs of cached pages, most recently used first."""
        return self._stored(
            typed, lambda services: (page.url for page in services.pages.pages(matching=typed, limit=_MAX_STORED))
        )

    def notes(self, typed: str) -> list[str]:
        """Return the paths of the notes in the vault."""
        vault = self._config.notes.vault
        if vault is None or not vault.is_dir():
            return []
        from asky.notes.vault import Vault  # for notes only

        return _matching((each.shown for each in Vault(vault).notes()), typed)

    def _stored(self, typed: str, read: Callable[[Services], Iterable[str]]) -> list[str]:
        if not (resolve_paths(self._environ).data / "asky.db").is_file():
            return []
        return _matching(read(self._services()), typed)


def _matching(names: Iterable[str], typed: str) -> list[str]:
    return [each for each in names if each.startswith(typed)]
