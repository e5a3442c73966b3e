"""What a server is started with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_RUNS = 32
"""The most runs of one server at once: twenty of them, with questions beside, are an ordinary day."""
ANSWER_S = 3600.0
"""Seconds that a run waits for an answer of the user, who may have closed the page, before it goes on without."""
SEND_S = 10.0
"""Seconds that a client may take to receive a message before it is dropped."""
PING_S = 15.0
"""Seconds between two comments on a stream: proxies close those that are silent for half a minute."""
POLL_S = 1.0
"""Seconds between two looks at a run of another process, which writes its events once a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Settings of one server. `hosts` are the values of `Host` that lead to it; `environ` holds secrets to mask."""

    token: str
    hosts: Sequence[str]
    environ: Mapping[str, str]
    max_runs: int = MAX_RUNS
    answer_s: float = ANSWER_S
    send_s: float = SEND_S
    ping_s: float = PING_S
    poll_s: float = POLL_S

    @property
    def cookie(self) -> str:
        """The name of the cookie of browsers; browsers send a cookie to every port of a host."""
        return "asky-" + self.hosts[0].rpartition(":")[2]
