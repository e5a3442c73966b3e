from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.html.sheets import Sheets
from tests.support.timing import check_linear


def hidden(css: str, *, classes: str = "x", name: str = "n", tag: str = "div", style: str = "<style>") -> bool:
    sheets = Sheets(f"<head>{style}{css}</style></head>")
    return sheets.hide_something and sheets.hide(tag, {"class": classes, "id": name}.get)


@pytest.mark.parametrize(
    "css",
    [".x{display:none}", "#n { visibility : hidden }", "div{font-size:0}", "div.x{display:none!important}",
     "*.x{display:none}", ".y,.x , .z{color:red;display:none;}", "/* } */.x{/* ; */DISPLAY:NONE}",
     "@charset 'x';.x{font-size:0px}",
     ".x{display:block}.x{display:none}", ".x{display:none!important}#n{display:block}", ".x#n{visibility:collapse}",
     "@media print{.x{display:block !important}}.x{visibility:hidden}", "}.x{display:none}"],
)  # fmt: skip
def test_plain_rules_hide_what_they_name(css: str) -> None:
    assert hidden(css)


@pytest.mark.parametrize(
    "css",
    ["", ".y{display:none}", ".X{display:none}", "span.x{display:none}", ".x.y{display:none}", ".a .x{display:none}",
     ".x:hover{display:none}", ".x::after{display:none}", "@media (max-width:600px){.x{display:none}}",
     ".x{display:none}#n{display:block}", ".x{display:none}.x{display:flex}", "#n{display:block}.x{display:none}",
     "div{display:none}.x{display:inline}", ".x{opacity:0}", ".x{position:absolute;left:-9999px}",
     ".x{font-size:0.9em}", ".x{display:none", ".x{-webkit-font-size:0;max-display:none}"],
)  # fmt: skip
def test_other_rules_and_those_that_are_overruled_do_not(css: str) -> None:
    assert not hidden(css)


@pytest.mark.parametrize(
    "showing",
    [".x.open{display:block}", ".open .x{display:block}", "input:checked~.x{display:block}", ".x:target{display:block}",
     "@media (min-width:600px){.x{display:block}}", "@media all{@supports (display:grid){.x{display:grid}}}"],
)  # fmt: skip
def test_what_a_page_can_show_is_not_hidden(showing: str) -> None:
    classes = "x open"
    assert not hidden(".x{display:none}" + showing, classes=classes)
    assert hidden(".x{display:none}" + showing.replace(".x", ".z"), classes=classes), "that shows something else"


@pytest.mark.parametrize("style", ["<STYLE type='text/css'>", '<style media="screen">', "<style media=all>"])
def test_sheets_for_every_screen_count(style: str) -> None:
    assert hidden(".x{display:none}", style=style)


@pytest.mark.parametrize(
    "style",
    ["<style media=print>", "<style media='all and (min-width: 600px)'>", "<noscript><style>", "<!-- <style>",
     "<script>write('<style>", "<template><style>"],
)  # fmt: skip
def test_sheets_for_others_do_not(style: str) -> None:
    assert not hidden(".x{display:none}", style=style)
    assert hidden(".x{display:none}", style="<noscript><style>.y{}</style></noscript><!-- --><style>")


def test_a_sheet_for_some_screens_can_show() -> None:
    assert not hidden(".x{display:none}</style><style media='(min-width: 600px)'>.x{display:block}")


@given(st.text(alphabet="abx.#{}@;:,/* <>!", max_size=200))
def test_any_sheet_is_read(css: str) -> None:
    assert hidden(css) in (True, False)


@pytest.mark.parametrize(
    "piece", ["a", ".a", ".x{display:none}", "{", "}", "/*", ":", " ", ",", "a{display:", "<style>", "<!--", "</style"]
)
def test_a_hostile_sheet_costs_linear_time(piece: str) -> None:
    check_linear(lambda chars: hidden(piece * (chars // len(piece))), 10_000)
