"""The mode of the runs of the agent, for those who start none."""

from __future__ import annotations

AGENT = "agent"
"""The mode of the runs of the agent."""
