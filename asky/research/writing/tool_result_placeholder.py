"""Placeholders for results of tools that no longer fit into a conversation.

A placeholder is one JSON object: a notice, a description and size of the result, and the keys of its passages, which
can still be cited and whose text can be requested again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from asky.evidence.keys import KEY

LEFT_OUT = "this result was left out to make room; call the tool again if its text is needed"
RESEARCHED = "the preview was left out to make room; this research has ended: do not run it again unless the user asks"
_OF_RESEARCH = ("success", "path", "topics_researched", "error", "written_to")
_MAX_ABOUT_CHARS = 160
_MAX_KEYS = 40
_PASSAGE = re.compile(rf"^<passage [0-9a-f]{{8,32}} ({KEY.pattern}) ", re.MULTILINE)
_FENCED = re.compile(r"^<(?:data|passage) [0-9a-f]{8,32}\b", re.MULTILINE)


def tool_result_placeholder(content: str, tool: str) -> str:
    """Return the placeholder for what `tool` returned, or `content` itself if that is no longer than its placeholder.

    Of a result that is one JSON object, the fields chosen by its tool's builder are kept. Of any other, the first line
    is kept, which says what was looked up, with the number of passages and at most 40 of their keys.
    """
    fields = _BUILDERS.get(tool, _shown_fields)(content)
    whole = json.dumps({"left_out": LEFT_OUT} | fields, ensure_ascii=False)
    return whole if len(whole) < len(content) else content


def _shown_fields(content: str) -> dict[str, Any]:
    keys = list(dict.fromkeys(_PASSAGE.findall(content)))
    fields: dict[str, Any] = {}
    head = content[: 8 * _MAX_ABOUT_CHARS].lstrip().split("\n", 1)[0]
    if head and not _FENCED.match(head):
        fields["about"] = head[:_MAX_ABOUT_CHARS].rstrip()
    if keys:
        fields |= {"passages": len(keys), "keys": keys[:_MAX_KEYS]}
    return fields


def _research_note_fields(content: str) -> dict[str, Any]:
    """Return how the research into a note ended; the text is in the note, if the user let it be written."""
    data = _object(content)
    return {"left_out": RESEARCHED} | {name: data[name] for name in _OF_RESEARCH if name in data}


def _object(content: str) -> Mapping[str, Any]:
    try:
        data = json.loads(content)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


_BUILDERS: Mapping[str, Callable[[str], dict[str, Any]]] = {"research_note": _research_note_fields}
