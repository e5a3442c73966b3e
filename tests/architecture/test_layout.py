"""How the package is laid out: small folders, a name for one class alone, and imports that say what needs what."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import MODULES, name_of, parse
from tests.support.asky_command import run_python

MAX_FILES = 25
MAX_INNER_IMPORTS = 138
"""Names of our own that functions import, in all of asky. It only shrinks, but for a product that comes to it."""
MAX_INNER_IMPORTS_BELOW = 26
"""As above, outside of wiring, use cases and the command line, where a function may pay for what it alone needs."""
LAZY_PLACES = ("asky/__main__.py", "asky/app/", "asky/cli/", "asky/wiring/")

PUBLISHED = """
    tools cache vector_store vector_store_common vector_store_chunk_link_ops vector_store_finding_ops embeddings chunker
    source_shortlist shortlist_collect shortlist_score shortlist_types adapters
""".split()  # noqa: SIM905 - names read better in lines
"""Modules of asky.research whose names others know."""


def inner_imports(tree: ast.Module) -> int:
    """How many names of our own package are imported within functions."""
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    found = {id(node): node for function in functions for node in ast.walk(function)}
    return sum(len(node.names) for node in found.values() if isinstance(node, ast.ImportFrom) and is_own(node.module))


def is_own(module: str | None) -> bool:
    return module is not None and f"{module}.".startswith("asky.")


def public_classes(tree: ast.Module) -> Iterator[str]:
    return (node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def test_no_folder_is_crowded() -> None:
    sizes = Counter(Path(name_of(module)).parent.as_posix() for module in MODULES)
    assert {folder: size for folder, size in sizes.items() if size > MAX_FILES} == {}


def test_no_two_classes_have_one_name() -> None:
    names = Counter(name for module in MODULES for name in public_classes(parse(module)))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_modules_of_research_are_there(name: str) -> None:
    assert importlib.util.find_spec(f"asky.research.{name}") is not None


def test_functions_import_few_names_of_our_own() -> None:
    counts = {name_of(module): inner_imports(parse(module)) for module in MODULES}
    below = sum(count for name, count in counts.items() if not name.startswith(LAZY_PLACES))
    most = sorted(((count, name) for name, count in counts.items()), reverse=True)[:10]
    print(f"{sum(counts.values())} names in all, {below} below the use cases")
    assert sum(counts.values()) <= MAX_INNER_IMPORTS, most
    assert below <= MAX_INNER_IMPORTS_BELOW, most


def test_inner_imports_are_counted() -> None:
    tree = ast.parse(
        "from asky.values import Answer\ndef f():\n    from asky.errors import A, B\n    import json\n"
        "    def g():\n        from asky.text.terms import words\n        from askyl import x\n"
    )
    assert inner_imports(tree) == 3


def test_importing_asky_costs_next_to_nothing(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import asky; print(*sorted(set(sys.modules) - before))"
    loaded = set(run_python(("-c", code), home=tmp_path).stdout.split())
    assert {name for name in loaded if name.startswith("asky")} == {"asky"}
    assert not {name.partition(".")[0] for name in loaded} - LIGHT


LIGHT = frozenset(
    """
    __future__ _collections _collections_abc _functools _operator _sre _typing _weakrefset asky collections contextlib
    copyreg enum functools itertools keyword operator re reprlib sre_compile sre_constants sre_parse types typing
    warnings weakref _weakref abc _abc
    """.split()  # noqa: SIM905
)
"""What a first import of `typing` loads of the standard library: some 10 ms, much of which every program pays."""
