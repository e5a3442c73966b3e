"""Notebooks: text, code, and what the code printed and showed."""

from __future__ import annotations

import json

import pytest

from asky.errors import SourceUnreadable
from asky.reading.notebook import read
from asky.values import Document

TABLE = """<div><style scoped>.dataframe tbody tr th {vertical-align: top;}</style><table border="1" class="dataframe">
<thead><tr><th>port</th><th>litres</th></tr></thead><tbody><tr><td>Lynvik</td><td>41</td></tr><tr><td>Skerry</td>
<td>33</td></tr></tbody></table></div>"""


def notebook(*cells: dict[str, object], **metadata: object) -> Document:
    made = [{"metadata": {}, "outputs": [], **cell} for cell in cells]
    return read(json.dumps({"cells": made, "metadata": metadata, "nbformat": 4}).encode(), "a.ipynb")


def code(*outputs: dict[str, object], source: str = "x", tags: list[str] | None = None) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {"tags": tags or []}}


def shown(**data: object) -> dict[str, object]:
    named = {"text": "text/plain", "html": "text/html", "latex": "text/latex", "markdown": "text/markdown"}
    return {"output_type": "display_data", "data": {named.get(key, key): value for key, value in data.items()}}


def printed(text: str) -> dict[str, object]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_a_notebook_is_its_text_its_code_and_what_that_printed() -> None:
    document = notebook(
        {"cell_type": "markdown", "source": ["# Tides\n", "Twice a day."]},
        code({"output_type": "execute_result", "data": {"text/plain": ["2"], "image/png": "x" * 99}}, source="1 + 1"),
        code(source=""),
        code(
            {"output_type": "error", "ename": "E", "evalue": "\x1b[31mno\x1b[0m", "traceback": ["-" * 99]},
            source="boom()",
        ),
    )
    assert document.title == "Tides"
    assert document.text == (
        "# Tides\nTwice a day.\n\n```python\n1 + 1\n```\n\nOutput:\n\n```\n2\n```\n\n```python\nboom()\n```\n\n"
        "Output:\n\n```\nE: no\n```\n\n"
    )
    assert [section.heading for section in document.sections] == ["Tides"]


@pytest.mark.parametrize(
    "picture",
    ["<Figure size 640x480 with 1 Axes>", "[<matplotlib.lines.Line2D at 0x7f12>]", "<Axes: xlabel='day'>",
     "<IPython.core.display.Image object>", "<seaborn.axisgrid.FacetGrid at 0x7f12>", "Text(0.5, 1.0, 'Oil')"],
)  # fmt: skip
def test_a_picture_is_no_text(picture: str) -> None:
    text = notebook(code(shown(text=picture, **{"image/png": "AAAA"}), source="plot()")).text
    assert text == "```python\nplot()\n```\n\n" or picture.startswith("Text(")


def test_a_table_is_read_as_one_and_not_as_drawn_with_spaces() -> None:
    text = notebook(code(shown(text="     port  litres\n0  Lynvik      41", html=TABLE))).text
    assert "Lynvik" in text
    assert "     port" not in text
    assert ".dataframe" not in text
    assert all("Lynvik" not in line or "41" in line for line in text.splitlines())


def test_markdown_and_latex_are_shown_as_such_and_widgets_not_at_all() -> None:
    text = notebook(
        code(
            shown(markdown="**12** litres", text="<IPython.core.display.Markdown object>"),
            shown(latex="$x^2$", text="x**2"),
            shown(text="IntSlider(value=3)", **{"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}),
        )
    ).text
    assert text == "```python\nx\n```\n\nOutput:\n\n**12** litres\n\n$x^2$\n\n"


def test_what_is_printed_in_pieces_is_joined_and_progress_stands_once() -> None:
    text = notebook(code(printed("10%\r60%\r100%\none "), printed("line\n"))).text
    assert "```\n100%\none line\n```" in text


def test_the_language_is_that_of_the_kernel() -> None:
    assert notebook(code(), language_info={"name": "R"}).text.startswith("```R\n")
    assert notebook(code(), kernelspec={"language": "julia"}).text.startswith("```julia\n")


def test_parts_that_the_author_takes_out_of_the_page_are_left_out() -> None:
    text = notebook(
        code(printed("secret"), tags=["remove-cell"]),
        code(printed("seen"), source="unseen", tags=["remove-input"]),
        code(printed("gone"), source="kept", tags=["remove-output"]),
        code(source="folded", tags=["hide-input"]),
    ).text
    assert [word for word in ("secret", "unseen", "gone") if word in text] == []
    assert [word for word in ("seen", "kept", "folded") if word not in text] == []


def test_an_old_notebook_has_its_cells_in_sheets() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Range"},
        {"cell_type": "code", "input": "a", "language": "python",
         "outputs": [{"output_type": "pyout", "text": ["1.13 m"]},
                     {"output_type": "pyerr", "ename": "E", "evalue": "v"}]},
    ]  # fmt: skip
    document = read(
        json.dumps({"nbformat": 3, "worksheets": [{"cells": cells[:1]}, {"cells": cells[1:]}]}).encode(), "a"
    )
    assert document.text.startswith("## Range\n\n```python\na\n```\n\nOutput:\n\n```\n1.13 m\n```")
    assert "E: v" in document.text
    assert [section.heading for section in document.sections] == ["Range"]


def test_long_outputs_are_cut_and_the_cut_is_told() -> None:
    document = notebook(code(printed("row\n" * 1_000_000)))
    assert len(document.text) < 2_200
    assert "more characters of output]" in document.text
    assert document.metadata["unread_parts"] == "output of cell 1: cut after 2,000 characters"


def test_code_with_fences_in_it_stays_in_one() -> None:
    assert notebook(code(source='"""\n```\n# no heading\n```\n"""')).sections == ()


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"cells": 3}', b'{"cells": [3]}', b"\xff\xfe"])
def test_what_is_no_notebook_is_said(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="not a notebook"):
        read(data, "a.ipynb")
