"""What interfaces ask the research agent with; without the agent itself, which takes a while to load."""

from __future__ import annotations

from asky.agent.models import PRIVACY_MODES as PRIVACY_MODES
from asky.agent.models import PrivacyMode as PrivacyMode
from asky.agent.models import ResearchRequest as ResearchRequest
