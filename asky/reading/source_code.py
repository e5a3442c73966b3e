"""Source code: stored unchanged, with a section for each definition, so that passages are cut where those begin.

Python is parsed. For other languages a line that looks like the beginning of a class, a function or a method is one;
its indentation shows what it belongs to. That needs a fiftieth of the time of a lexer, and a definition that is missed
costs no text: it is part of the one before it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from asky.reading.charset import decode
from asky.reading.formats import SOURCE_CODE
from asky.reading.text_builder import Heading, invisible_metadata, nest
from asky.text.scrub import scrub_counted
from asky.values import Document

_MAX_LINE = 400  # a longer line is minified, and no definition that anybody looks for
_MAX_HEADINGS = 5_000
_TAB = 4
_INDENT = 2  # the least indentation that any common style uses

_NAME = r"[A-Za-z_$][\w$]*(?:(?:::|\.)[A-Za-z_$~][\w$]*)*[?!]?"
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|sealed|override|open|data|"
    r"async|inline|virtual|unsafe|extern|constexpr|partial|readonly|case|suspend|operator|local|"
    r"pub(?:\([\w ]+\))?)\s+)*"
)
_DEFINITIONS = re.compile(
    rf"^(?P<indent>[ \t]*){_MODIFIERS}(?:"
    rf"(?:class|interface|struct|enum|union|trait|module|namespace|record|object|protocol|extension|type)\s+(?P<type>{_NAME})"
    rf"|impl(?:<[^>]*>)?\s+(?P<impl>[^{{\n]{{1,80}}?)\s*\{{"
    rf"|(?:function\*?|func|fn|def|sub|fun|proc)\s+(?:\([^)\n]*\)\s*)?(?:self\.)?(?P<function>{_NAME})"
    rf"|(?:const|let|var|val)\s+(?P<arrow>{_NAME})\s*(?::[^=\n]*)?=\s*(?:async\s*)?(?:function\b|\([^)\n]*\)\s*(?::[^=\n]*)?=>|\w+\s*=>)"
    rf"|(?:CREATE|create)\s+(?:OR\s+REPLACE\s+|or\s+replace\s+)?(?:TEMP\w*\s+|UNIQUE\s+)?"
    rf"(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|TYPE|table|view|function|procedure|trigger|index|type)\s+"
    rf"(?:IF\s+NOT\s+EXISTS\s+|if\s+not\s+exists\s+)?[`\"\[]?(?P<sql>[\w.]+)"
    rf"|(?:[\w<>\[\],.*&:~]+\s+)*?[*&]*(?!(?:if|for|while|switch|catch|return|else|do|new|throw|await|sizeof|using|with)\b)"
    rf"(?P<method>{_NAME})\s*\([^;=\n]*\)\s*"
    rf"(?:const|noexcept|override|final|throws\s+[\w., ]+|->\s*[^{{;\n]+|:\s*[\w<>\[\]| ]+)?\s*\{{"
    r")",
    re.MULTILINE,
)
_COMMENT_ABOVE = re.compile(r"[ \t]*(?:#(?!!)|//|/\*|\*|@\w|--|///|\"\"\"|#\[)")


def read(data: bytes, name: str) -> Document:
    """Return the text of a file of source code, only scrubbed, with a section for each definition."""
    text, invisible = scrub_counted(decode(data))
    headings = list(_python(text) if name.lower().endswith((".py", ".pyi")) else _by_lines(text))
    return Document(
        text=text,
        media_type=SOURCE_CODE,
        sections=nest(headings[:_MAX_HEADINGS], len(text)),
        metadata=invisible_metadata(invisible),
    )


def _python(text: str) -> Iterator[Heading]:
    """Yield the definitions of Python code; those found by lines if it is not valid."""
    starts = _line_starts(text)
    found: list[Heading] = []

    def visit(body: Sequence[ast.stmt], level: int) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                found.append(Heading(_with_comments(text, starts, first - 1), level, node.name))
                visit(node.body, level + 1)
            elif isinstance(node, ast.If | ast.Try | ast.With):  # as for one of several platforms or versions
                handlers = node.handlers if isinstance(node, ast.Try) else ()
                for part in (node.body, *(each.body for each in handlers), getattr(node, "orelse", ())):
                    visit(part, level)
            elif level == 1 and found and (name := _assigned(node)) is not None:
                found.append(Heading(_with_comments(text, starts, node.lineno - 1), 1, name))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are not ours to report
            tree = ast.parse(text)
        visit(tree.body, 1)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _by_lines(text)
    else:
        yield from found


def _assigned(node: ast.stmt) -> str | None:
    """Return the name that a statement gives a value to; below a definition it would count as a part of that."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((each.id for each in targets if isinstance(each, ast.Name)), None)


def _by_lines(text: str) -> Iterator[Heading]:
    starts = _line_starts(text)
    for line, start in enumerate(starts):
        end = starts[line + 1] if line + 1 < len(starts) else len(text)
        if end - start > _MAX_LINE:
            continue
        match = _DEFINITIONS.match(text[start:end])
        named = (
            next((value for key, value in match.groupdict().items() if key != "indent" and value), None)
            if match
            else None
        )
        if match is not None and named is not None:
            indent = len(match["indent"].expandtabs(_TAB))
            yield Heading(_with_comments(text, starts, line), 1 + indent // _INDENT, named.strip())


def _with_comments(text: str, starts: list[int], line: int) -> int:
    """Return the start of the definition on `line`, with the comments right above it."""
    while line > 0 and _COMMENT_ABOVE.match(text, starts[line - 1]):
        line -= 1
    return starts[line]


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(r"\n", text))]
