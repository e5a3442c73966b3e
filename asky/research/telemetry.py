"""Disables the telemetry of libraries."""

from __future__ import annotations

import os

_ENVIRONMENT = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime from 1.29 on stores a device id in the home folder and looks up a host
    "ANONYMIZED_TELEMETRY": "False",  # Chroma
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


def rule_out_telemetry() -> None:
    """Disable telemetry in the libraries of this process and its children. Call it before they are imported.

    onnxruntime's own `disable_telemetry_events` comes too late: the import has written the id by then.
    """
    os.environ.update(_ENVIRONMENT)
