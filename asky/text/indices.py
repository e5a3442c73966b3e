"""Numbers in square brackets: the indices of paths, `steps[1].run`, and a source's own references, `dust [1]`.

Both read like a citation of the answer. References are left out of what is quoted; a path keeps its indices, and what
has one is shown as code.
"""

from __future__ import annotations

import re

from asky.text.plain import plain

_NUMBERS = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
_BRACKET = rf"\\?\[{_NUMBERS}\\?\]"  # Markdown escapes it, `steps\[1\].run`
_REFERENCE = re.compile(rf"\s?\[\^?{_NUMBERS}\]")
_CODE_SPAN = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,1000})\1(?!`)")
_PATH = re.compile(
    rf"(?P<name>[\w$][\w$.]{{0,80}})(?:{_BRACKET})+(?P<rest>(?:(?:\.|->|::)[A-Za-z_$][\w$]*(?:{_BRACKET})*)*)"
)
_GOES_ON = re.compile(r"(?:\.[a-z_$]|->|::)")  # "dust[1].The" lacks the space between two sentences
_ASSIGNED = re.compile(r"\s?(?:[-+*/|&^%:=!<>]?=)(?!\w)")
# A name with a dot is one of code, unless it is that of a file or an address.
_NAME_OF_CODE = re.compile(
    r"[_$]|\.(?!(?:ai|app|cfg|com|conf|csv|de|docx?|edu|exe|fr|gov|html?|ini|io|js|json|md|net|org|pdf|png|py|sh|toml|"
    r"txt|uk|xlsx?|xml|ya?ml)$)[a-z_]\w*$"
)
_HIDDEN = str.maketrans("[]", "\ue0f0\ue0f1")  # for private use: no document that was scrubbed says anything with them
_SHOWN = str.maketrans("\ue0f0\ue0f1", "[]")
_WITH_NUMBER = re.compile(rf"`+[^`\n]*`+|(?P<token>\S*\[\^?{_NUMBERS}\]\S*)")
_AROUND = "()\"'“”‘’«»*_.,;:!?"


def shown_text(markdown: str) -> str:
    """Return inline Markdown as its reader sees it, without the references of a source; paths keep their indices."""
    if "[" not in markdown:
        return plain(markdown)
    marked = _CODE_SPAN.sub(lambda span: span[0].translate(_HIDDEN), markdown)
    marked = _PATH.sub(_with_hidden_indices, marked)
    return _REFERENCE.sub("", plain(marked)).translate(_SHOWN)


def indices_in_code(text: str) -> str:
    """Return `text` with each word that has a number in brackets as a code span: elsewhere it reads as a citation."""
    return _WITH_NUMBER.sub(_in_code, text) if "[" in text else text


def _with_hidden_indices(path: re.Match[str]) -> str:
    is_path = (
        _GOES_ON.match(path["rest"]) is not None
        or "[0" in path[0]  # no reference is number 0
        or _NAME_OF_CODE.search(path["name"]) is not None
        or _ASSIGNED.match(path.string, path.end()) is not None
    )
    return path[0].replace("\\", "").translate(_HIDDEN) if is_path else path[0]


def _in_code(found: re.Match[str]) -> str:
    token = found["token"]
    if token is None or "`" in token:
        return found[0]
    start = len(token) - len(token.lstrip(_AROUND))
    end = len(token.rstrip(_AROUND))
    return f"{token[:start]}`{token[start:end]}`{token[end:]}"
