"""Which of a model's ONNX files suits this processor: public repositories have one for each set of instructions."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from pathlib import Path

_TAGS = {
    "avx512_vnni": ("avx512_vnni", "avx512", "avx2"),
    "avx512": ("avx512", "avx2"),
    "avx2": ("avx2",),
    "arm64": ("arm64",),
}
"""Names of instruction sets in those of files, best first.

Source: the files that sentence-transformers exports, such as `onnx/model_qint8_avx512_vnni.onnx`. A file for newer
instructions is slower on an older processor, and less exact where sums of 8-bit products overflow.
"""


def this_processor() -> str:
    """Return `avx512_vnni`, `avx512`, `avx2` or `arm64`, or the machine's own name for any other."""
    machine = platform.machine().lower()
    if machine in ("arm64", "aarch64"):
        return "arm64"
    try:
        line = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text("utf-8", "replace"), re.MULTILINE)
    except OSError:
        line = None
    flags = set(line[1].split()) if line else set()
    if "avx512f" in flags:
        return "avx512_vnni" if "avx512_vnni" in flags else "avx512"
    return "avx2" if "avx2" in flags else machine


def best_graph(paths: Iterable[str], processor: str | None) -> str | None:
    """Return that of `paths` within a repository that suits `processor`, `None` if none is a model's ONNX file.

    Without a processor it is the one in full precision, which is the same on all.
    """
    known = sorted(paths)
    tagged = [rf"model(_q?u?int8)?_{tag}" for tag in _TAGS.get(processor or "", ())]
    for stem in [*tagged, "model_quantized", "model"] if processor is not None else ["model"]:
        pattern = re.compile(rf"(onnx/)?{stem}\.onnx")
        found = next((each for each in known if pattern.fullmatch(each)), None)
        if found is not None:
            return found
    return None
