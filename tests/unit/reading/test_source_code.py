from __future__ import annotations

import pytest

from asky.reading.source_code import read

PYTHON = '''"""Rates."""

LIMIT = 4


# What a parcel costs.
@cached
class Rates:
    """Prices."""

    def quote(self, weight):
        return weight * LIMIT

    async def later(self): ...


def delay_before(attempt):
    def inner(): ...
    return inner
'''


def outline(text: str, name: str) -> list[tuple[int, str]]:
    return [(section.level, section.heading) for section in read(text.encode(), name).sections]


def test_python_has_a_section_for_each_definition_with_its_comments_and_decorators() -> None:
    document = read(PYTHON.encode(), "rates.py")
    assert document.text == PYTHON
    assert outline(PYTHON, "rates.py") == [
        (1, "Rates"),
        (2, "quote"),
        (2, "later"),
        (1, "delay_before"),
        (2, "inner"),
    ]
    rates, quote = document.sections[:2]
    assert PYTHON[rates.start :].startswith("# What a parcel costs.\n@cached\nclass Rates")
    assert PYTHON[quote.start : quote.end].strip() == "def quote(self, weight):\n        return weight * LIMIT"


def test_a_name_of_the_module_below_a_definition_is_no_part_of_it() -> None:
    text = f"{PYTHON}\n\nRATES: dict[str, int] = {{}}\nother.name = 3\n"
    assert outline(text, "rates.py")[-2:] == [(2, "inner"), (1, "RATES")]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "a.js",
            "export class Store {\n  add(post) {\n    if (post) {\n    }\n  }\n}\nconst escape = (text) => {\n};\n"
            "export async function send(a, b) {\n}\nmodule.exports = { send };\n",
            ["Store", "add", "escape", "send"],
        ),
        ("a.go", "type Box struct {\n}\n\nfunc (b *Box) Open(key string) error {\n}\n", ["Box", "Open"]),
        (
            "a.rs",
            "pub struct Mill;\nimpl Mill {\n    pub fn grind(&self) -> u8 {\n    }\n}\n",
            ["Mill", "Mill", "grind"],
        ),
        (
            "A.java",
            "public class A {\n    private static int sum(int a) {\n        return a;\n    }\n}\n",
            ["A", "sum"],
        ),
        ("a.c", "static int add(int a, int b) {\n    return a + b;\n}\n", ["add"]),
        ("a.rb", "module M\n  class C\n    def go!\n    end\n  end\nend\n", ["M", "C", "go!"]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS parcels (\n  id INTEGER\n);\n", ["parcels"]),
        ("a.sh", "build() {\n  make\n}\n", ["build"]),
        ("broken.py", "def one(:\n    pass\nclass Two:\n", ["one", "Two"]),
    ],
)
def test_other_languages_have_one_where_a_definition_seems_to_begin(name: str, text: str, found: list[str]) -> None:
    assert [heading for _, heading in outline(text, name)] == found


def test_definitions_for_one_of_several_platforms_are_found() -> None:
    text = (
        "import sys\n\nif sys.platform == 'win32':\n    class Lock:\n        pass\nelse:\n    try:\n"
        "        def lock(): ...\n    except ImportError:\n        def lock(): ...\n"
    )
    assert [heading for _, heading in outline(text, "lock.py")] == ["Lock", "lock", "lock"]


def test_a_long_chain_of_conditions_is_read() -> None:
    text = "def one(): ...\nif 0: pass\n" + "elif x: pass\n" * 3_000
    assert [heading for _, heading in outline(text, "chain.py")] == ["one"]


def test_text_without_definitions_is_stored_as_it_is() -> None:
    assert read(b"", "a.py").text == ""
    document = read(b"x = 1\n", "a.py")
    assert (document.text, document.sections) == ("x = 1\n", ())


def test_minified_code_is_one_text_without_sections() -> None:
    minified = "function a(b){return b};" * 200_000
    document = read(minified.encode(), "a.js")
    assert len(document.text) == len(minified)
    assert document.sections == ()


def test_undecodable_bytes_and_deep_nesting_are_no_error() -> None:
    assert "def f" in read(b"# caf\xe9\ndef f():\n    pass\n", "a.py").text
    assert read(("(" * 5_000).encode(), "a.py").sections == ()
