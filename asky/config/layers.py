"""Collects values layer by layer, each validated when added, with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from asky.config.checks import find_contradictions
from asky.config.conversion import WrongValue, convert, expected, parse_text
from asky.config.documents import TomlDocument, read_document
from asky.config.keys import Family, KeyPath, KeyTable, Leaf, build, children, dotted, find, leaves, missing, nearest
from asky.config.paths import expand_user, user_file
from asky.config.schema import FILES
from asky.config.secrets import names_secret
from asky.errors import ConfigError

Layer = Literal["packaged", "user", "project", "environment", "flag"]

_MAX_NAME_CHARS = 100
SPECIAL_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "ASKY_HOME": "folder that holds config, data, cache and state, instead of the XDG folders",
        "ASKY_MODEL": "default model, an alias or PROVIDER:MODEL_ID; -m overrides it",
        "RESEARCH_MODEL": "model for research into notes, as `notes.model`",
        "ASKY_MCP_TOKEN": "token that hosts must show to `asky mcp --http`",
        "ASKY_SERVER_TOKEN": "token that clients must show to `asky serve`",
        "ASKY_DEBUG": "any value: show the traceback of an error",
        "OPENAI_API_KEY": "key of the provider openai",
        "OPENAI_BASE_URL": "address of the provider openai, as `providers.openai.base_url`",
    }
)
RETIRED_VARIABLES = frozenset({"ASKY_MODEL_CACHE"})
RETIRED_KEYS = frozenset({("research", "embedding", "precision")})
"""What earlier versions had: it is accepted, so that a configuration from before stays valid, and has no effect."""
FOREIGN_BASE_URL = "OPENAI_BASE_URL"
"""A variable that other programs read too: an invalid value is an error only if it would be used."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value: the layer, the file, variable or flag in it, and the line, from 1, if known."""

    layer: Layer
    source: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{self.layer} {place}"


class LayerReader:
    """Values, origins and problems, collected layer by layer."""

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        self.problems: list[ConfigError] = []
        self._environ = environ
        self._cwd = cwd
        self.values: dict[KeyPath, Any] = {}
        self._origins: dict[KeyPath, Origin] = {}

    def origins(self) -> dict[str, Origin]:
        """Return the origin of each value by its dotted key."""
        return {dotted(path): origin for path, origin in self._origins.items()}

    def add_file(self, layer: Layer, path: Path, name: str) -> None:
        """Add the file at `path`, if there is one, as `name` of `FILES`."""
        try:
            document = read_document(path)
        except ConfigError as error:
            self.problems.append(error)
            return
        if document is not None:
            self.add_document(layer, document, name)

    def add_document(self, layer: Layer, document: TomlDocument, name: str) -> None:
        """Add the content of `document` as `name` of `FILES`."""
        for key, raw in document.data.items():
            if key in FILES[name]:
                self._add((key,), raw, layer, document)
            elif layer == "project" and find((key,)) is not None:
                self._refuse_in_project((key,), _origin(layer, document, (key,)))
            else:
                self._unknown((key,), _origin(layer, document, (key,)))

    def _add(self, path: KeyPath, raw: object, layer: Layer, document: TomlDocument) -> None:
        node = find(path)
        origin = _origin(layer, document, path)
        if path in RETIRED_KEYS:
            return
        if node is None:
            self._unknown(path, origin)
        elif isinstance(node, Leaf):
            if layer == "project" and not node.project:
                self._refuse_in_project(path, origin)
            else:
                self._set(path, node, raw, origin)
        elif not isinstance(raw, dict):
            self._problem(origin, f"{_name(path)}: expected a table, got a value")
        elif layer == "project" and isinstance(node, Family):
            self._refuse_in_project(path, origin)
        elif not raw and isinstance(node, KeyTable) and len(path) > 1 and isinstance(find(path[:-1]), Family):
            self._problem(origin, f"{_name(path)}: the table is empty", hint=_keys_of(node.cls))
        else:
            for key, value in raw.items():
                self._add((*path, key), value, layer, document)

    def add_variable(self, variable: str, text: str) -> None:
        """Add the environment variable `variable`, whose name starts with `ASKY_`."""
        origin = Origin("environment", variable)
        if variable == "ASKY_MODEL":
            self.values["default",], self._origins["default",] = text, origin
        elif variable not in SPECIAL_VARIABLES and variable not in RETIRED_VARIABLES:
            path = tuple(name.lower() for name in variable.removeprefix("ASKY_").split("__"))
            if path in RETIRED_KEYS:
                return
            node = find(path) if len(path) > 1 else None
            if isinstance(node, Leaf):
                self._set(path, node, parse_text(node, text), origin)
            else:
                self._unknown_variable(variable, is_table=node is not None)

    def add_foreign_variable(self, variable: str, path: KeyPath, text: str) -> None:
        """Add a variable not owned by asky that sets the text at `path`; it is validated on use."""
        self.values[path], self._origins[path] = text, Origin("environment", variable)

    def add_flag(self, key: str, value: object) -> None:
        """Add a value from the command line. Raises `LookupError` if the program names a key that does not exist."""
        path = tuple(key.split("."))
        node = find(path)
        if not isinstance(node, Leaf):
            raise LookupError(f"no such configuration key: {key}")  # noqa: TRY004 - the name is wrong, not its type
        self._set(path, node, value, Origin("flag", "command line"))

    def finish(self) -> None:
        """Run the checks that need all values: required keys and contradictions."""
        if self.problems:
            return
        for path in missing(self.values):
            self._problem(self._origin_near(path[:-1]), f"{_name(path)} is missing")
        if not self.problems:
            for path, text in find_contradictions(build(self.values)):
                origin = self._origin_near(path)
                if origin.source != FOREIGN_BASE_URL:
                    self._problem(origin, f"{_name(path)}: {text}")

    def _origin_near(self, path: KeyPath) -> Origin:
        return next(o for p, o in reversed(self._origins.items()) if p[: len(path)] == path)

    def _set(self, path: KeyPath, leaf: Leaf, raw: object, origin: Origin) -> None:
        relative_to = self._cwd if origin.layer in ("environment", "flag") else None

        def expand(text: str) -> Path:
            try:
                written = expand_user(text, self._environ)
            except ConfigError as error:
                raise WrongValue(expected(leaf), "a path in an unknown home folder") from error
            if relative_to is None and not written.is_absolute():
                raise WrongValue("an absolute path, or one that starts with ~/", "a relative path")
            return written if relative_to is None else relative_to / written

        try:
            value = convert(leaf, raw, expand)
        except WrongValue as error:
            self._problem(origin, f"{_name(path)}: {error}", hint=error.hint)
        else:
            self._origins.pop(path, None)  # the last layer to set a key is listed last
            self.values[path], self._origins[path] = value, origin

    def _unknown(self, path: KeyPath, origin: Origin) -> None:
        home = next((name for name, tops in FILES.items() if path[0] in tops), None)
        close = nearest(path)
        if path[0] == "providers" and names_secret(path[-1]):
            hint = 'keys are never written down: name the variable that holds one, api_key_env = "..."'
        elif home is not None and find(path) is not None:
            hint = f"{path[0]} belongs in {home}"
        elif close is not None:
            hint = f"did you mean {_name(close)}?"
        else:
            parent = find(path[:-1])
            hint = _keys_of(parent.cls) if isinstance(parent, KeyTable) else "see: asky config show"
        self._problem(origin, f"unknown key {_name(path)}", hint=hint)

    def _unknown_variable(self, variable: str, *, is_table: bool) -> None:
        origin = Origin("environment", variable)
        if is_table:
            self._problem(origin, "names a table, not a key", hint=f"add __ and the key: {variable}__...")
            return
        close = _nearest_variable(variable)
        self._problem(origin, "no such variable", hint=f"did you mean {close}?" if close else "see: asky config show")

    def _refuse_in_project(self, path: KeyPath, origin: Origin) -> None:
        name = next(name for name, tops in FILES.items() if path[0] in tops)
        self._problem(
            origin,
            f"a project file may not set {_name(path)}",
            hint=f"set it in {user_file(self._environ, name)} if you want it",
        )

    def _problem(self, origin: Origin, text: str, *, hint: str | None = None) -> None:
        place = origin.source if origin.line is None else f"{origin.source}:{origin.line}"
        self.problems.append(ConfigError(f"{place}: {text}", hint=hint))


def variable_of(path: KeyPath) -> str:
    """Return the environment variable that sets the key at `path`."""
    return "ASKY_MODEL" if path == ("default",) else "ASKY_" + "__".join(name.upper() for name in path)


def _nearest_variable(variable: str) -> str | None:
    from difflib import get_close_matches  # only if there is an error already

    known = [*SPECIAL_VARIABLES, *(variable_of(path) for path, _ in leaves())]
    return next(iter(get_close_matches(variable, known, n=1)), None)


def _name(path: KeyPath) -> str:
    """Return the dotted key for a message; a key can be as long as its file."""
    name = dotted(path)
    return name if len(name) <= _MAX_NAME_CHARS else name[:_MAX_NAME_CHARS] + "..."


def _keys_of(cls: type) -> str:
    return "keys here: " + ", ".join(children(cls))


def _origin(layer: Layer, document: TomlDocument, path: KeyPath) -> Origin:
    if layer == "packaged":
        return Origin(layer, document.path.name)
    known = (document.lines.get(path[:depth]) for depth in range(len(path), 0, -1))
    return Origin(layer, str(document.path), next((line for line in known if line is not None), None))
