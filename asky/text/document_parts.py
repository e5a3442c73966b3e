"""Recognition of the parts of a document that say who funded it, what it used, what it leaves open, and the like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from asky.text.document_questions import Aspect


@dataclass(frozen=True, slots=True)
class Cue:
    """How a part of a document is recognised: by the heading of its section, else by its sentences.

    All sentences of a section count if it `is_whole`, otherwise only those that `sentence` fits.
    """

    heading: re.Pattern[str]
    sentence: re.Pattern[str]
    is_whole: bool = False


_OWN = (
    r"\b(?:we|our|us|this (?:paper|study|work|article|approach|method|model)|here|current\w*|"
    r"(?:a|one|another) (?=limit))\b"
)
_CUE_PATTERNS: dict[Aspect, tuple[str, str, bool]] = {
    "funding": (
        r"acknowledge?ments?|funding|financial (?:support|disclosure)|thanks",
        r"\b(?:funded|funding|sponsored|financed)\b|\b(?:grants?|fellowship|award)\b|\bfinancial(?:ly)? support"
        r"|\bsupport(?:ed|s)?\b[^.]{0,80}\b(?:foundation|council|program(?:me)?|funds?|ministry|agency|scholarship|"
        r"contract|union|NSF|NIH|ERC|DARPA|ONR|DFG)\b",
        False,
    ),
    "limitations": (
        r"limitations?|threats to validity|caveats?|drawbacks?|known (?:issues|limitations)",
        rf"{_OWN}[^.]{{0,120}}\b(?:limitations?|limited|drawbacks?|shortcomings?|weakness(?:es)?|caveats?)\b|"
        rf"\b(?:limitations?|drawbacks?|shortcomings?|weakness(?:es)?|caveats?)\b[^.]{{0,60}}{_OWN}",
        True,
    ),
    "future": (
        r"future (?:work|research|directions?)|outlook|open (?:questions?|problems?)|next steps|roadmap",
        r"\bfuture (?:work|research|directions?|studies|plans?|improvements?|versions?|efforts?)\b|"
        r"\bin (?:the )?future\b|"
        r"\bfurther (?:work|research|stud(?:y|ies)|investigations?)\b|\bwe (?:plan|hope|intend|aim) to\b|"
        r"\b(?:fruitful|promising|interesting) (?:direction|to )|\bremains? (?:an? )?open\b|"
        r"\bopen (?:question|problem)s?\b",
        True,
    ),
    "data": (
        r"(?:data ?sets?|data|corpora|corpus|benchmarks?|experimental data)\b",
        r"\b(?:us(?:e|ed|ing)|evaluat\w+|train(?:ed|ing)?|test(?:ed)?|experiment\w*|conduct\w*|report\w*|consist\w*|"
        r"collect\w*|consider\w*|compar\w*|on the)\b[^.]{0,120}\b(?:data ?sets?|corpus|corpora|benchmarks?)\b|"
        r"\b(?:data ?sets?|corpus|corpora|benchmarks?)\b[^.]{0,120}"
        r"\b(?:us(?:ed|ing)|evaluat\w+|train(?:ed|ing)|consist\w*)\b",
        False,
    ),
    "licence": (
        r"licen[cs]e|licensing|copyright",
        r"\blicen[cs](?:e|ed|es|ing)\b|\bcreative commons\b|\bcc[- ]by\b|\bcopyright\b|©|\bpublic domain\b",
        False,
    ),
    "code": (
        r"(?:code|data|software)(?: and data)? availability|availability|source code|reproducibility",
        r"\b(?:code|implementation|software|package|library|source|notebooks?|repository)\b[^.]{0,80}"
        r"\b(?:available|released?|open.?source\w*|found (?:at|on|in)|hosted|github|gitlab|bitbucket|zenodo)\b|"
        r"\b(?:github|gitlab|bitbucket)\.\w+/|\bopen.?sourced?\b",
        False,
    ),
}
CUES = {
    aspect: Cue(re.compile(rf"^(?:{heading})", re.IGNORECASE), re.compile(sentence, re.IGNORECASE), is_whole)
    for aspect, (heading, sentence, is_whole) in _CUE_PATTERNS.items()
}
"""How the parts that tell an aspect are recognised; other aspects have a place in each document."""
