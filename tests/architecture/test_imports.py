"""Habits of the code that no linter rule states: where heavy imports may stand, what may print, and no hidden state."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import asky

ROOT = Path(asky.__file__).parents[1]
MODULES = sorted((ROOT / "asky").rglob("*.py"))

HEAVY = frozenset(
    {
        "bibtexparser",
        "charset_normalizer",
        "chromadb",
        "fastapi",
        "fitz",
        "ada_url",
        "httpcore2",
        "httpx",
        "httpx2",
        "langchain_core",
        "langgraph",
        "langsmith",
        "lxml",
        "mcp",
        "mcp_types",
        "networkx",
        "numpy",
        "onnx",
        "onnxruntime",
        "openai",
        "pathspec",
        "playwright",
        "protego",
        "pydantic",
        "pylatexenc",
        "pymupdf",
        "rich",
        "sentence_transformers",
        "starlette",
        "tld",
        "tokenizers",
        "torch",
        "trafilatura",
        "transformers",
        "uvicorn",
        "yake",
    }
)

# Modules that are only ever imported by a function that needs them, and what they may therefore import at the top.
LAZY = {
    "asky/research/embedding/": {"numpy"},
    "asky/research/reader/": {"numpy"},  # imported when something is read, as its port is not
    "asky/agent/graph.py": {"langgraph", "langsmith"},  # imported when a run starts
    "asky/app/serving/connections.py": {"uvicorn"},  # as the next
    "asky/app/serving/http.py": {"uvicorn"},  # imported by the commands that serve
    "asky/mcp/": {"mcp", "mcp_types"},  # imported by its command alone
    "asky/server/": {"fastapi", "pydantic", "starlette"},  # imported by its command alone
    "asky/net/located.py": {"httpcore2"},
    "asky/cli/terminal/markdown_render.py": {"rich"},
}

MUTABLE_CALLS = frozenset({"list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict"})
CACHES = frozenset({"cache", "lru_cache"})


@cache
def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), str(module))


def name_of(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run at import, outside of `if TYPE_CHECKING`."""
    pending = list(tree.body)
    while pending:
        statement = pending.pop(0)
        yield statement
        if isinstance(statement, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(statement.test):
                pending += statement.body
            pending += statement.orelse
        elif isinstance(statement, (ast.With, ast.For, ast.While)):
            pending += statement.body
        elif isinstance(statement, ast.Try):
            pending += [*statement.body, *statement.orelse, *statement.finalbody]
            pending += [inner for handler in statement.handlers for inner in handler.body]
        elif isinstance(statement, ast.ClassDef):
            pending += statement.body


def imported(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import):
        return {alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        return {statement.module.partition(".")[0]}
    return set()


def heavy_imports(tree: ast.Module) -> set[str]:
    return {name for statement in top_level(tree) for name in imported(statement)} & HEAVY


def called_name(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)):
        return True
    return isinstance(value, ast.Call) and called_name(value) in MUTABLE_CALLS


def state_of(tree: ast.Module) -> Iterator[str]:
    """What could keep something between two calls: variables, `global`, and caches that stand for a singleton."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and is_mutable(statement.value):
            for target in targets:
                if isinstance(target, ast.Name) and not target.id.isupper() and target.id != "__all__":
                    yield f"line {statement.lineno}: {target.id} is mutable"
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"line {node.lineno}: global {', '.join(node.names)}"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not ast.unparse(node.args):
            cached = [d for d in node.decorator_list if called_name(d) in CACHES]
            if cached:
                yield f"line {node.lineno}: {node.name} is a singleton"


def prints_of(tree: ast.Module) -> list[int]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def found_in(modules: Iterable[Path], check: Callable[[Path], Iterable[object]]) -> list[str]:
    """What the check finds, each with the module that it is in."""
    assert modules
    return [f"{name_of(module)}: {found}" for module in modules for found in check(module)]


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    def misplaced(module: Path) -> set[str]:
        allowed = {name for prefix, names in LAZY.items() if name_of(module).startswith(prefix) for name in names}
        return heavy_imports(parse(module)) - allowed

    assert found_in(MODULES, misplaced) == []


def test_no_module_keeps_state() -> None:
    assert found_in(MODULES, lambda module: state_of(parse(module))) == []


def test_only_the_command_line_prints() -> None:
    others = [module for module in MODULES if not name_of(module).startswith("asky/cli/")]
    assert found_in(others, lambda module: prints_of(parse(module))) == []


def test_these_checks_see_what_they_are_for() -> None:
    tree = ast.parse(
        "import numpy as np\nfrom torch.nn import Module\nif TYPE_CHECKING:\n    import yake\n"
        "try:\n    import rich\nexcept ImportError:\n    import openai\n"
        "def f():\n    import chromadb\n    global seen\n    print()\n"
        "seen = []\nLIMITS = {}\n__all__ = ['f']\ncounts: dict = collections.defaultdict(int)\n"
        "@functools.lru_cache(maxsize=None)\ndef client(): ...\n@functools.cache\ndef pure(x): ...\n"
    )
    assert heavy_imports(tree) == {"numpy", "torch", "rich", "openai"}
    assert [found.partition(": ")[2] for found in state_of(tree)] == [
        "seen is mutable",
        "counts is mutable",
        "client is a singleton",
        "global seen",
    ]
    assert prints_of(tree) == [12]


def test_the_public_names_are_sorted_few_and_all_there() -> None:
    assert asky.__all__ == sorted(asky.__all__)
    assert len(asky.__all__) <= 12
    for name in asky.__all__:
        members = get_args(getattr(asky, name)) or (getattr(asky, name),)  # `Event` is a union
        assert all(each.__module__.startswith("asky.") for each in members), name
    assert set(asky.__all__) <= set(dir(asky))
    with pytest.raises(AttributeError):
        _ = asky.nothing


def test_the_version_is_that_of_the_distribution() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{asky.__version__}"\n' in project or 'dynamic = ["version"]' in project


def test_only_its_command_imports_the_mcp_server() -> None:
    def imports(module: Path) -> list[int]:
        nodes = (node for node in ast.walk(parse(module)) if isinstance(node, ast.ImportFrom))
        return [node.lineno for node in nodes if f"{node.module}.".startswith("asky.mcp.")]

    others = [module for module in MODULES if not name_of(module).startswith(("asky/mcp/", "asky/cli/commands/mcp.py"))]
    assert found_in(others, imports) == []
