"""A citation names the section of what it quotes, whatever the format of the file, also within one passage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.files import epub
from tests.support.here import run_here

RECIPES = (
    ("Lentil soup", ("250 g red lentils", "2 carrots", "cumin"), "Simmer the lentil soup for 25 minutes."),
    ("Rye bread", ("300 g rye flour", "7 g instant yeast", "10 g salt"), "Bake the rye bread for 45 minutes."),
)


def marked(path: Path, mark: str = "", underline: str = "") -> Path:
    """Write the recipes below headings with a mark before or a line below them."""
    parts = ["Recipes\n*******\n"] if path.suffix == ".rst" else []  # else the first heading is the title
    for name, items, step in RECIPES:
        heading = f"{mark}{name}\n{underline * len(name)}\n\n"
        parts.append(heading + "".join(f"- {item}\n" for item in items) + f"\n{step}\n")
    path.write_text("\n".join(parts))
    return path


def word(path: Path) -> Path:
    import docx

    document = docx.Document()
    for name, items, step in RECIPES:
        document.add_heading(name, 1)
        for item in items:
            document.add_paragraph(item, style="List Bullet")
        document.add_paragraph(step)
    document.save(str(path))
    return path


def slides(path: Path) -> Path:
    import pptx

    presentation = pptx.Presentation()
    for name, items, step in RECIPES:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = name
        slide.placeholders[1].text = "\n".join([*items, step])
    presentation.save(str(path))
    return path


def page(path: Path) -> Path:
    body = "".join(
        f"<h2>{name}</h2><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul><p>{step}</p>"
        for name, items, step in RECIPES
    )
    path.write_text(
        f"<html><body><article><h1>Recipes</h1><p>What my aunt cooks for us.</p>{body}</article></body></html>"
    )
    return path


def book(path: Path) -> Path:
    chapters = (
        (name, f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul><p>{step}</p>")
        for name, items, step in RECIPES
    )
    path.write_bytes(epub(list(chapters)))
    return path


def asked(path: Path, question: str) -> Any:
    words_alone = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(path.parent / "no model")}
    done = run_here("ask", "-d", str(path), question, "--json", home=path.parent, environ=words_alone)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda path: marked(path, "## "), "recipes.md"),
        (lambda path: marked(path, underline="-"), "recipes.md"),
        (lambda path: marked(path, underline="="), "recipes.rst"),
        (lambda path: marked(path, underline="-"), "recipes.txt"),
        (word, "recipes.docx"),
        (slides, "recipes.pptx"),
        (page, "recipes.html"),
        (book, "recipes.epub"),
    ],
)
def test_a_citation_names_the_section_of_its_quotation(
    tmp_path: Path, write: Callable[[Path], Path], name: str
) -> None:
    path = write(tmp_path / name)
    answer = asked(path, "What ingredients does the lentil soup have?")
    assert "red lentils" in answer["answer"]
    assert "rye flour" not in answer["answer"]
    assert [each["section"].rpartition(" › ")[2] for each in answer["citations"]] == ["Lentil soup"]
    answer = asked(path, "For how long do I bake the rye bread?")
    assert "for 45 minutes" in answer["answer"]
    assert [each["section"].rpartition(" › ")[2] for each in answer["citations"]] == ["Rye bread"]
    assert "Rye bread" in run_here("why", "1", home=tmp_path).stdout.splitlines()[0]
