"""All health checks, ordered so that earlier findings explain later ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from asky.chat.entries import CHAT_ENTRIES
from asky.config.loader import Config, check_config, load_config
from asky.config.paths import Paths, prepared_models, resolve_paths
from asky.config.secrets import scrub
from asky.errors import AskyError, ConfigError, StoreDamaged
from asky.health.check import Check, ok, problem
from asky.health.configuration import check_answering, check_model, check_programs
from asky.health.embedding import check_embedding
from asky.health.machine import (
    check_disk_space,
    check_leftovers,
    check_privacy,
    check_python,
    check_readers,
    check_sizes,
    check_sqlite,
)
from asky.health.pair_models import check_pair_models
from asky.health.store import BACKUP_HINT, check_cache, check_file, check_pages, check_store
from asky.health.vectors import check_index, check_vectors
from asky.health.web import RunAsync, check_web
from asky.storage.database import Database
from asky.storage.repair.integrity import StoreIntegrity


def diagnose(
    environ: Mapping[str, str],
    cwd: Path,
    *,
    full: bool = False,
    repair: bool = False,
    run: RunAsync | None = None,
) -> Iterator[Check]:
    """Run every check and yield each result as it is obtained.

    Nothing is written unless `repair` is set: then indexes are rebuilt, and unreadable records are moved to a backup
    file. `full` also has Chroma look its own vectors up again, which takes seconds. Nothing is sent unless `run` is
    given; then each search service receives one search.
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
    yield check_disk_space(paths.data)
    yield check_sizes(paths)
    yield check_leftovers(paths, prepared_models(environ), now=time.time())
    fingerprints: list[str] = []
    yield from _check_contents(paths, config, fingerprints, full=full, repair=repair)
    model = check_model(config, fingerprints=fingerprints, models=paths.models)
    yield model
    if model.state == "ok":
        yield from check_embedding(config, paths.models)
    yield from check_pair_models(config, paths.models)


def _configuration(environ: Mapping[str, str], cwd: Path) -> tuple[Config, list[Check]]:
    """Return the configuration, or the defaults if it is invalid, and the checks of it."""
    problems = check_config(environ=environ, cwd=cwd)
    if problems:
        return Config(), [problem("configuration", scrub(each.message, environ), each.hint) for each in problems]
    config = load_config(environ=environ, cwd=cwd)
    return config, [ok("configuration", "valid"), check_answering(config, environ)]


def _check_contents(
    paths: Paths, config: Config, fingerprints: list[str], *, full: bool, repair: bool
) -> Iterator[Check]:
    """Check the store and its index, and add the models of its vectors to `fingerprints`.

    A missing or unusable store is not opened.
    """
    path = paths.data / "asky.db"
    first = check_file(path)
    if first.state != "ok":
        yield first
    else:
        try:
            database = Database(path, ledger_entries=CHAT_ENTRIES)
        except AskyError as error:
            yield problem("store", error.message, BACKUP_HINT if isinstance(error, StoreDamaged) else error.hint)
        else:
            try:
                yield from _check_database(database, paths, config, full=full, repair=repair)
                fingerprints += _fingerprints(database)
            finally:
                database.close()


def _check_database(database: Database, paths: Paths, config: Config, *, full: bool, repair: bool) -> Iterator[Check]:
    whole = check_pages(database)
    yield whole
    if whole.state == "ok":
        yield from check_store(database, repair=repair)
        yield check_cache(database, max_bytes=config.research.cache.max_mb << 20, now=time.time())
        yield from check_vectors(database)
        yield check_index(paths.data / "chroma", database, full=full, repair=repair)


def _fingerprints(database: Database) -> list[str]:
    """Return the fingerprints of the models that stored vectors were made with."""
    try:
        return [each.fingerprint for each in StoreIntegrity(database).spaces() if each.vectors]
    except AskyError:  # a damaged store, already reported
        return []
