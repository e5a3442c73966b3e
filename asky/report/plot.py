"""Plots as inline SVG: measures with their intervals, and curves. Colours come from the classes `v0` to `v5`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from asky.report.markup import Html, join, tag

COLOURS = 6
_WIDTH = 720
_LEFT = 150
_RIGHT = 20
_TOP = 12
_AXIS = 26
_ROW = 14  # between two variants
_GAP = 12  # between two measures
_HEIGHT = 300  # of a curve
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class PlottedValue:
    """A value in [0, 1] with its bounds; `colour` is the number of its variant."""

    value: float
    low: float
    high: float
    colour: int


def interval_plot(rows: Sequence[tuple[str, Sequence[PlottedValue]]]) -> Html:
    """Return a plot with a row for each label: its values as dots, from top to bottom, on whiskers."""
    heights = [max(1, len(values)) * _ROW + _GAP for _, values in rows]
    bottom = _TOP + sum(heights)
    parts = [*_grid(_LEFT, _WIDTH - _RIGHT, _TOP, bottom)]
    top = _TOP
    for (label, values), height in zip(rows, heights, strict=True):
        middle = top + height / 2
        parts.append(_text(_LEFT - 10, middle + 4, label, anchor="end"))
        first = middle - (len(values) - 1) * _ROW / 2
        for at, each in enumerate(values):
            parts += _whisker(each, first + at * _ROW)
        top += height
    return _svg(bottom + _AXIS, parts, "Measures with their intervals")


def curve_plot(curves: Sequence[tuple[int, Sequence[tuple[float, float]]]]) -> Html:
    """Return a plot of curves, each a colour and its points in [0, 1] by x."""
    bottom = _TOP + _HEIGHT
    parts = [*_grid(_LEFT, _WIDTH - _RIGHT, _TOP, bottom)]
    for tick in _TICKS:
        y = bottom - tick * _HEIGHT
        parts.append(_line(_LEFT, y, _WIDTH - _RIGHT, y, "grid"))
        parts.append(_text(_LEFT - 8, y + 4, f"{tick:.1f}", anchor="end", class_="soft"))
    for colour, points in curves:
        shown = " ".join(f"{_x(x):.1f},{bottom - y * _HEIGHT:.1f}" for x, y in points)
        parts.append(tag("polyline", points=shown, class_=f"curve {_colour(colour)}"))
        x, y = points[-1]
        parts.append(
            tag("circle", cx=f"{_x(x):.1f}", cy=f"{bottom - y * _HEIGHT:.1f}", r="3.5", class_=_colour(colour))
        )
    return _svg(bottom + _AXIS, parts, "Precision over the share answered")


def _svg(height: float, parts: Sequence[Html], label: str) -> Html:
    return tag("svg", *parts, viewBox=f"0 0 {_WIDTH} {height:.0f}", role="img", aria_label=label)


def _grid(left: float, right: float, top: float, bottom: float) -> Iterator[Html]:
    for tick in _TICKS:
        x = left + tick * (right - left)
        yield _line(x, top, x, bottom, "grid" if tick else "axis")
        yield _text(x, bottom + 16, f"{tick:.1f}", anchor="middle", class_="soft")


def _whisker(each: PlottedValue, y: float) -> list[Html]:
    title = tag("title", f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]")
    line = _line(_x(each.low), y, _x(each.high), y, "whisker")
    dot = tag("circle", title, cx=f"{_x(each.value):.1f}", cy=f"{y:.1f}", r="4.5")
    return [tag("g", join([line, dot]), class_=_colour(each.colour))]


def _x(value: float) -> float:
    return _LEFT + value * (_WIDTH - _RIGHT - _LEFT)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return tag("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=class_)


def _text(x: float, y: float, text: str, *, anchor: str, class_: str | None = None) -> Html:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_)


def _colour(number: int) -> str:
    return f"v{number % COLOURS}"
