"""How many generated examples a test tries."""

from __future__ import annotations

from hypothesis import settings

BRIEF_EXAMPLES = 30
"""How many a property tries that names no number, unless `--extended` or a profile asks for the usual hundred."""


def examples(count: int) -> int:
    """`count` under `--extended` and in `make fuzz`, and otherwise as large a share of it as of the usual hundred."""
    is_brief = settings.get_current_profile_name() == "brief"
    return max(1, count * BRIEF_EXAMPLES // 100) if is_brief else count
