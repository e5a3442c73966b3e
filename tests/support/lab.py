"""asky as a library over a home of its own, with private documents and a model behind an endpoint on loopback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from asky.app.asky import Asky
from asky.config.loader import load_config
from tests.support.endpoint import Endpoint

SECRET = "heliotrope"
ASKED = "What is the harbour code?"


@dataclass(frozen=True)
class Lab:
    """A home without an embedding model, a folder of private documents, and an endpoint for a model called `far`."""

    home: Path
    endpoint: Endpoint

    def environ(self, **more: str) -> dict[str, str]:
        """The variables that the use cases are opened with."""
        return {
            "ASKY_HOME": str(self.home / "asky"),
            "HOME": str(self.home),
            "ASKY_PROVIDERS__LAB__BASE_URL": self.endpoint.base_url,
            "ASKY_MODELS__FAR__PROVIDER": "lab",
            "ASKY_MODELS__FAR__ID": "test-model",
            "ASKY_RESEARCH__EMBEDDING__MODEL": str(self.home / "no model"),
            **more,
        }

    def open(self, **more: str) -> Asky:
        """The use cases; the built-in model answers unless `ASKY_MODEL` says otherwise."""
        environ = self.environ(**more)
        return Asky.open(load_config(environ=environ, cwd=self.home), environ=environ)

    @property
    def private(self) -> Path:
        """The folder whose one document holds `SECRET`."""
        return self.home / "private"

    @property
    def leaked(self) -> list[str]:
        """The requests to the endpoint that hold `SECRET`."""
        return [each for each in (str(request.messages) for request in self.endpoint.requests) if SECRET in each]


def open_lab(home: Path, endpoint: Endpoint) -> Lab:
    """Return the lab in `home`, with its private document."""
    lab = Lab(home, endpoint)
    lab.private.mkdir()
    (lab.private / "codes.md").write_text(f"# Codes\n\nThe harbour code is {SECRET}, and nobody may know.\n")
    return lab
