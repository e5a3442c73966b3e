"""Which topics of a note its research has found nothing on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from asky.text.counting import counted
from asky.values import Answer, Citation


def topics_without_findings(topics: Sequence[Mapping[str, Any]], answer: Answer) -> tuple[str, ...]:
    """Return the labels of the topics on which `answer` says nothing, in order.

    `topics` are what was gathered, see `asky.research.web.gathering.TopicFindings.as_record`. An answer says something
    on a topic if it has the label as a heading, or cites one of the results of the topic that stands under no other
    topic which has a heading.
    """
    headings = {line.lstrip("#").strip().casefold() for line in answer.text.split("\n") if line.startswith("#")}
    cited = {found for each in answer.citations for found in _names(each)}
    headed = [each for each in topics if each["topic"].casefold() in headings]
    cited -= {found for each in headed for found in _results(each)}
    return tuple(each["topic"] for each in topics if each not in headed and not cited & _results(each))


def describe_missing(labels: Collection[str]) -> str:
    """Return a sentence that names the topics on which nothing was found."""
    return f"nothing was found on {counted(len(labels), 'topic')}: {', '.join(f'“{each}”' for each in labels)}"


def _names(citation: Citation) -> set[str]:
    """Return what a result may be known by: the key of a passage, or a URL without one."""
    return {citation.key, *filter(None, [citation.source.url])}


def _results(topic: Mapping[str, Any]) -> set[str]:
    passages = (*topic["vault_results"], *topic["page_extracts"])
    return {each["key"] for each in passages} | {each["url"] for each in topic["web_results"]}
