"""The whole check-up, in the order in which one finding explains the next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from asky.config.loader import Config, check_config, load_config
from asky.config.paths import Paths, resolve_paths
from asky.config.secrets import scrub
from asky.errors import AskyError, ConfigError, StoreDamaged
from asky.health.answering import check_answering
from asky.health.check import Check, ok, problem
from asky.health.folders import check_leftovers, check_privacy, check_sizes
from asky.health.index import check_index
from asky.health.machine import check_python, check_readers, check_room, check_sqlite
from asky.health.model import check_model
from asky.health.programs import check_programs
from asky.health.store import BACKUP_HINT, check_cache, check_file, check_pages, check_store
from asky.health.vectors import check_vectors
from asky.health.web import RunAsync, check_web
from asky.storage.database import Database
from asky.storage.integrity import StoreIntegrity


def examine(
    environ: Mapping[str, str],
    cwd: Path,
    *,
    full: bool = False,
    repair: bool = False,
    run: RunAsync | None = None,
) -> Iterator[Check]:
    """Every check, as it is done. Nothing is written unless `repair`: then indexes are made anew, and what no
    command can read is set aside.

    `full` also lets Chroma look its own vectors up again, which takes seconds. Nothing is sent unless `run` is given,
    and then one search to each search service.
    """
    yield check_python()
    yield check_sqlite()
    yield from check_readers()
    try:
        paths = resolve_paths(environ)
    except ConfigError as error:
        yield problem("folders", error.message, error.hint)
        return
    yield ok("folders", ", ".join(str(each) for each in dict.fromkeys((paths.config, paths.data, paths.cache))))
    config, found = _configuration(environ, cwd)
    yield from found
    yield from check_programs(config, environ)
    if all(each.state != "problem" or each.name != "configuration" for each in found):
        yield from check_web(config, environ, paths.state, run=run)
    yield from check_privacy(paths)
    yield check_room(paths.data)
    yield check_sizes(paths)
    yield check_leftovers(paths, now=time.time())
    yield from _check_contents(paths, config, full=full, repair=repair)


def _configuration(environ: Mapping[str, str], cwd: Path) -> tuple[Config, list[Check]]:
    """The configuration, or the defaults where it is not valid, and what was found."""
    problems = check_config(environ=environ, cwd=cwd)
    if problems:
        return Config(), [problem("configuration", scrub(each.message, environ), each.hint) for each in problems]
    config = load_config(environ=environ, cwd=cwd)
    return config, [ok("configuration", "valid"), check_answering(config, environ)]


def _check_contents(paths: Paths, config: Config, *, full: bool, repair: bool) -> Iterator[Check]:
    """The store and what depends on it; a store that is not there, or not usable as it is, is not opened."""
    path = paths.data / "asky.db"
    fingerprints: list[str] = []
    first = check_file(path)
    if first.state != "ok":
        yield first
    else:
        try:
            database = Database(path)
        except AskyError as error:
            yield problem("store", error.message, BACKUP_HINT if isinstance(error, StoreDamaged) else error.hint)
        else:
            try:
                yield from _check_database(database, paths, config, full=full, repair=repair)
                fingerprints = _fingerprints(database)
            finally:
                database.close()
    yield check_model(config, paths, fingerprints=fingerprints)


def _check_database(database: Database, paths: Paths, config: Config, *, full: bool, repair: bool) -> Iterator[Check]:
    whole = check_pages(database)
    yield whole
    if whole.state == "ok":
        yield from check_store(database, repair=repair)
        yield check_cache(database, max_bytes=config.research.cache.max_mb << 20, now=time.time())
        yield from check_vectors(database)
        yield check_index(paths.data / "chroma", database, full=full, repair=repair)


def _fingerprints(database: Database) -> list[str]:
    """The models that something was embedded with."""
    try:
        return [each.fingerprint for each in StoreIntegrity(database).spaces() if each.vectors]
    except AskyError:  # a damaged store, which was reported
        return []
