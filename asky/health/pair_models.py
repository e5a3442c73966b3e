"""The check of the models that read pairs of texts: the one inside asky, and others that the configuration names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from asky.config.loader import Config
from asky.errors import AskyError, NotConfigured
from asky.health.check import Check, ok, problem
from asky.research.embedding.labels import answer_output, labels_of, verdict_outputs
from asky.research.embedding.models import find_local_model
from asky.research.embedding.own_models import read_record
from asky.research.reader import model
from asky.research.reader.port import BUILT_IN

_NAME = "reader"


def check_pair_models(config: Config, models: Path) -> Iterator[Check]:
    """Check that each named model is on this machine, undamaged and of the right kind; none is opened.

    `models` is the folder of downloaded ones.
    """
    chosen = config.research
    named: tuple[tuple[str, str | None, Callable[[Sequence[str]], object]], ...] = (
        ("research.reader.answers", chosen.reader.answers, answer_output),
        ("research.reader.verdicts", chosen.reader.verdicts, verdict_outputs),
        ("research.retrieval.cross_encoder", chosen.retrieval.cross_encoder, answer_output),
    )
    for key, name, read in named:
        if name is None or (name == BUILT_IN and key.endswith("verdicts") and chosen.reader.answers == BUILT_IN):
            continue
        try:
            if name == BUILT_IN:
                model.check_shipped(fully=True)
            else:
                _check(name, models, read)
        except AskyError as error:
            yield problem(_NAME, f"{key}: {error.message}", error.hint)
        else:
            yield ok(_NAME, f"{key}: {name}")


def _check(name: str, models: Path, read: Callable[[Sequence[str]], object]) -> None:
    folder = find_local_model(name, own=models, kind="model")
    if folder is None:
        raise NotConfigured(f"{name} is not on this machine", hint=f"`asky models get {name}` downloads it")
    record = read_record(folder)
    if record is not None:
        record.check(fully=True)
    try:
        read(labels_of(json.loads((folder / "config.json").read_text("utf-8"))))
    except (OSError, ValueError, RecursionError) as error:
        raise NotConfigured(f"{name} does not fit: {error}", hint="name another model") from error
