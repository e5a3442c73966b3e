"""Fenced code ends where a renderer ends it: what stands in it stays, and what stands behind it is defused."""

from __future__ import annotations

import pytest

from asky.evidence.citations.markers import number_citations
from tests.support.rendering import loaded_by

IN_CODE = "<kept>"
IN_TEXT = "<img>"


@pytest.mark.parametrize(
    "answer",
    [
        "```\n<kept>\n```\n<img>",
        "```\n<kept>\n~~~\n<kept>\n``\n    ```\n<kept>\n   ```   \n<img>",
        "~~~ x ` y\n<kept>\n~~~~\t\n<img>",
        "````\n<kept>\n```\n<kept>\n````\n<img>",
        "text\n```html\n<kept>\n```\ntext <img>",
        ">~~~\n\n<img>",
        ">~~~\n<img>",
        "- > ```\n  text\n  ```\n<img>",
        "> ```\n> <kept>\n>\n><kept>\n> ```\n> <img>",
        "> ```\n> <kept>\n> > <kept>\n<img>",
        "- ```\n  <kept>\n\n  <kept>\n  ```\n  <img>",
        "- ```\n  <kept>\n<img>",
        "-\t```\n\t<kept>\n\t```\n\t<img>",
        "10) a\n\n    ```\n    <kept>\n    ```\n<img>",
        "1. a\n   - b\n     > ~~~\n     > <kept>\n     <img>",
        "- a\n  ```\n  <kept>\n```\n<kept>\n```\n<img>",
        "- a\n\n  ```\n  <kept>\n\n\n  <kept>\n  ```\n- b <img>",
        "-\n\n  ```\n<kept>\n  ```\n<img>",
        "text\n    ```\n<img>",
        "text\n2. b\n   ```\n<kept>\n   ```\n<img>",
        "# text\n2. b\n   ```\n   <kept>\n<img>",
        "> text\ngoes on\n> ```\n> <kept>\n<img>",
        "* * *\n  ```\n<kept>\n```\n<img>",
        "a\n---\n- ```\n  <kept>\n<img>",
        "``` a`b\n<img>",
        "``` a|b\n<kept>\n```\n<img>",
        "|a|b|\n|-|-|\n|c|d|\n\n```\n<kept>\n```\n<img>",
        "[a]: b\n```\n<kept>\n```\n<img>",
        "```\n<kept>\n```" + " " * 700 + "\n<img>",
        "```\n[a]: b\n2. x\n```\n```\n<kept>\n```\n<img>",
        "```\nnever closed <kept>",
    ],
)
def test_code_keeps_its_signs_and_text_does_not(answer: str) -> None:
    text = number_citations(answer, {}).text
    assert text == answer.replace(IN_TEXT, "&lt;img>").replace("``` a|b", "``` a&#124;b")
    assert loaded_by(text) == []
    assert number_citations(text, {}).text == text


@pytest.mark.parametrize(
    "answer",
    [
        "- a|b\n  -|-\n- ```\n  <kept>",
        ">~~~\n    >x\n>~~~\n> <kept>",
        "> a|b\n> -|-\ntext\n> ```\n> <kept>",
        "[a]: b\n2. x\n   ```\n<kept>",
        "> " * 40 + "```\n" + "> " * 40 + "<kept>",
        "~" * 70 + "\n<kept>",
        "~~~" + "x" * 300 + "\n<kept>",
        ">" * 700 + "```\n<kept>",
    ],
)
def test_where_renderers_may_part_ways_nothing_is_taken_for_code(answer: str) -> None:
    text = number_citations(answer, {}).text
    assert IN_CODE not in text
    assert loaded_by(text) == []
