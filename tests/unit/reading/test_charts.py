from __future__ import annotations

import io
import zipfile

import pptx
from pptx.chart.data import BubbleChartData, CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from asky.reading.office.archive import Package
from asky.reading.office.charts import Series, chart_lines, series_lines

NEW_CHART = """<cx:chartSpace xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><cx:chartData><cx:data id="0"><cx:strDim type="cat">
<cx:lvl ptCount="2"><cx:pt idx="0">Start</cx:pt><cx:pt idx="1">Loss</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val">
<cx:lvl ptCount="2" formatCode="General"><cx:pt idx="0">100</cx:pt><cx:pt idx="1">-20</cx:pt></cx:lvl></cx:numDim>
</cx:data></cx:chartData><cx:chart><cx:title><cx:tx><cx:rich><a:p><a:r><a:t>Cash</a:t></a:r></a:p></cx:rich></cx:tx>
</cx:title><cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:v>Crowns</cx:v>
</cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>"""


def lines(kind: XL_CHART_TYPE, data: object, title: str = "", axes: tuple[str, str] | None = None) -> list[str]:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    chart = slide.shapes.add_chart(kind, 0, 0, 9_000_000, 5_000_000, data).chart
    if title:
        chart.chart_title.text_frame.text = title
    if axes:
        chart.category_axis.axis_title.text_frame.text, chart.value_axis.axis_title.text_frame.text = axes
    out = io.BytesIO()
    presentation.save(out)
    package = Package(out.getvalue())
    return chart_lines(package, next(name for name in package.names() if name.startswith("ppt/charts/chart")))


def test_a_chart_has_a_line_for_each_series_with_its_titles_and_the_values_as_shown() -> None:
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["2024", "2025"]
    data.add_series("Harbour", (0.075, 0.12))
    data.add_series("Quay", (None, 0.1))
    assert lines(XL_CHART_TYPE.BAR_CLUSTERED, data, "Rents", ("Year", "Share")) == [
        "Chart “Rents”, Harbour (Share by Year): 2024 = 7.5%; 2025 = 12.0%",
        "Chart “Rents”, Quay (Share by Year): 2025 = 10.0%",
    ]


def test_a_chart_of_one_series_has_its_name_as_title_and_levels_of_names_are_joined() -> None:
    data = CategoryChartData()
    for year in ("2023", "2024"):
        category = data.add_category(year)
        for quarter in ("Q1", "Q2"):
            category.add_sub_category(quarter)
    data.add_series("Boats", (1, 2, 3, 4.5))
    assert lines(XL_CHART_TYPE.COLUMN_CLUSTERED, data) == [
        "Chart “Boats”: 2023 Q1 = 1; 2023 Q2 = 2; 2024 Q1 = 3; 2024 Q2 = 4.5"
    ]


def test_bubbles_have_their_sizes() -> None:
    data = BubbleChartData()
    series = data.add_series("Catch")
    series.add_data_point(1, 2, 3)
    assert lines(XL_CHART_TYPE.BUBBLE, data, "Nets", ("Weight", "Length")) == [
        "Chart “Nets”, Catch (Length by Weight): 1 = 2 (size 3)"
    ]


def test_a_waterfall_is_read_too() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("chart.xml", NEW_CHART)
    assert chart_lines(Package(out.getvalue()), "chart.xml") == ["Chart “Cash”, Crowns: Start = 100; Loss = -20"]
    assert chart_lines(Package(out.getvalue()), "other.xml") == []


def test_a_chart_without_values_is_its_title_or_nothing() -> None:
    assert series_lines("Empty", [Series("a", [])]) == ["Chart “Empty”"]
    assert series_lines("", []) == []
