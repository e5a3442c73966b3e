"""A command whose model plays a script, or during whose questions something else happens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from asky.app.asky import Asky
from asky.chat.answering import Answerer
from asky.cli.context import CommandContext, command_context
from asky.config.limits import RunLimits
from asky.config.loader import Config
from asky.events import Listener
from asky.llm.port import ChatModel
from asky.wiring import Services
from asky.wiring.models import ModelParts


class StagedModels(ModelParts):
    """The models of this process, where what `services` say takes the place of what was chosen."""

    def __init__(self, services: StagedServices) -> None:
        super().__init__(services, os.environ)
        self._staged = services

    def answerer(self, name: str | None, limits: RunLimits) -> Answerer:
        happens, self._staged.meanwhile = self._staged.meanwhile, None
        if happens is not None:
            happens()
        made = super().answerer(name, limits)
        return made if self._staged.model is None else replace(made, model=self._staged.model)


class StagedServices(Services):
    """The services of this process, in which `model` answers whatever model is chosen, if there is one.

    `meanwhile` is done, once, when it is known how a question is asked, and nothing of it is prepared yet.
    """

    def __init__(self, config: Config, listener: Listener, model: ChatModel | None) -> None:
        super().__init__(config, os.environ, listener=listener)
        self.model = model
        self.meanwhile: Callable[[], object] | None = None

    @cached_property
    def models(self) -> ModelParts:
        return StagedModels(self)


class StagedAsky(Asky):
    """The use cases over these services."""

    def __init__(self, services: StagedServices) -> None:
        super().__init__(services.config, os.environ)
        self._opened = self._closing.enter_context(services)


@contextmanager
def staged_command(model: ChatModel | None = None) -> Iterator[tuple[CommandContext, StagedServices]]:
    """What a command works with, and its services."""
    with command_context() as ctx:
        services = StagedServices(ctx.asky.config, ctx.progress, model)
        with StagedAsky(services) as asky:
            yield replace(ctx, asky=asky), services
