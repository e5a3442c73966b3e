"""What the first keystroke costs, in modules loaded. `tests/bench/test_startup_speed.py` measures the time."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.asky_command import run_python
from tests.support.chatting import CTRL_D, Chatting

HEAVY = frozenset(
    {
        "anyio",
        "asyncio",
        "charset_normalizer",
        "chromadb",
        "filelock",
        "fitz",
        "httpx",
        "httpx2",
        "importlib.metadata",
        "lxml",
        "networkx",
        "numpy",
        "onnx",
        "onnxruntime",
        "openai",
        "pathspec",
        "pydantic",
        "pymupdf",
        "requests",
        "rich",
        "sentence_transformers",
        "sklearn",
        "sqlite3",
        "tokenizers",
        "torch",
        "trafilatura",
        "transformers",
        "unittest",
        "urllib.request",
        "yake",
    }
)

LOADED = """
import json, sys
from asky.__main__ import run
from asky.cli.terminal.streams import harden_streams
harden_streams()
code = run(sys.argv[1:])
sys.stderr.write(json.dumps([code, sorted(sys.modules)]))
"""


def modules_of(arguments: Sequence[str], home: Path, environ: dict[str, str] | None = None) -> set[str]:
    """The modules that the process `asky ARGUMENTS` has loaded when it ends with exit code 0."""
    done = run_python(("-c", LOADED, *arguments), home=home, environ=environ)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


COMPLETING = {"_ASKY_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "asky c"}


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        (["--help"], {}),
        (["--version"], {}),
        (["config", "--help"], {}),
        (["config", "show"], {}),
        (["config", "show", "--json"], {}),
        (["config", "path"], {}),
        (["config", "validate"], {}),
        (["config", "set", "ui.progress", "false"], {}),
        (["completion", "bash"], {}),
        (["completion", "zsh"], {}),
        ([], COMPLETING),
        ([], {**COMPLETING, "COMP_WORDS": "asky config s", "COMP_CWORD": "2"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value.get("COMP_WORDS", ""),
)
def test_light_commands_load_nothing_heavy(arguments: list[str], environ: dict[str, str], tmp_path: Path) -> None:
    modules = modules_of(arguments, tmp_path, environ)
    assert not HEAVY & modules


def test_help_and_version_read_no_configuration_and_import_no_command(tmp_path: Path) -> None:
    for arguments in (["--help"], ["--version"]):
        own = {name for name in modules_of(arguments, tmp_path) if name.startswith("asky")}
        assert own == {
            "asky",
            "asky.__main__",
            "asky.cli",
            "asky.cli.catalog",
            "asky.cli.main",
            "asky.cli.terminal",
            "asky.cli.terminal.streams",
            "asky.version",
        }


def test_a_chat_without_a_terminal_loads_no_editing_prompt_and_not_the_research_stack(tmp_path: Path) -> None:
    loaded = modules_of(["chat"], tmp_path)
    assert not {"prompt_toolkit", "anyio", "numpy", "asky.chat.answering"} & loaded


@pytest.mark.extended
def test_syncing_unchanged_files_loads_no_event_loop_and_not_the_layout_of_pages(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe sea rises twice a day.\n", "utf-8")
    modules_of(["config", "set", "research.embedding.model", "/nowhere"], tmp_path)  # the model is not what is tested
    modules_of(["corpus", "add", "--no-embed", str(folder)], tmp_path)
    loaded = modules_of(["corpus", "sync"], tmp_path)
    assert "asky.research.vector_store" in loaded
    assert not HEAVY - {"sqlite3"} & loaded
    assert not {"asky.reading.pages.lines", "asky.research.chunker"} & loaded


@pytest.mark.extended
@pytest.mark.model
def test_a_question_asked_again_loads_neither_the_model_nor_its_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe sea rises twice a day.\n", "utf-8")
    asked = ("ask", "-d", str(tmp_path / "tides.md"), "How often does the sea rise?")
    first, again = modules_of(asked, tmp_path), modules_of(asked, tmp_path)
    assert {"tokenizers", "onnxruntime"} <= first
    assert not {"tokenizers", "onnxruntime", "chromadb", "rich"} & again


def test_importing_asky_imports_nothing_else(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import asky; print(sorted(set(sys.modules) - before))"
    done = run_python(("-c", code), home=tmp_path)
    assert "numpy" not in done.stdout
    assert [name for name in done.stdout.split("'") if name.startswith("asky")] == ["asky"]


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(["--version"], 14), (["--help"], 28), (["config", "show"], 150)],  # 11, 21 and 123 as measured
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_light_commands_load_few_modules_besides_those_of_click(
    arguments: list[str], most: int, tmp_path: Path
) -> None:
    done = run_python(("-c", "import json, sys, click; print(json.dumps(sorted(sys.modules)))"), home=tmp_path)
    loaded = modules_of(arguments, tmp_path) - set(json.loads(done.stdout))
    print(f"asky {' '.join(arguments)}: {len(loaded)} modules")
    assert len(loaded) <= most


RECORDED = """
import json, sys
from asky.__main__ import run
code = run(["chat"])
open(sys.argv[1], "w").write(json.dumps(sorted(sys.modules)))
sys.exit(code)
"""


def test_a_chat_in_a_terminal_loads_the_editing_prompt_and_not_the_research_stack(tmp_path: Path) -> None:
    file = tmp_path / "modules.json"
    with Chatting(str(file), home=tmp_path, command=(), program=(sys.executable, "-c", RECORDED)) as chatting:
        chatting.see("| web addresses only")
        chatting.type(CTRL_D)
        assert chatting.end() == 0
    loaded = set(json.loads(file.read_text()))
    print(f"asky chat: {len(loaded)} modules")
    assert "prompt_toolkit" in loaded
    assert not (HEAVY - {"asyncio", "sqlite3"}) & loaded
    assert len(loaded) <= 650  # 559 as measured
