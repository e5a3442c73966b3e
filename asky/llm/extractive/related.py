"""Words of a question that a document says in another form: "how long" in a table with the column *Length*."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from asky.text.terms import stem

_ASKED_WITH = {
    "length": "long",
    "duration": "long",
    "height": "high tall",
    "depth": "deep",
    "width": "wide",
    "weight": "heavy weigh",
    "size": "big large",
    "age": "old",
    "speed": "fast quick",
    "distance": "far",
    "price": "cost expensive cheap",
    "cost": "price expensive cheap",
    "fee": "cost price pay",
    "attendees": "attend present meeting",
    "present": "attend meeting",
    "participants": "attend present meeting",
    "due": "deadline",
    "deadline": "due",
    "owner": "own belong",
    "birthday": "born",
    "born": "birthday",
    "email": "mail contact reach",
    "phone": "call contact telephone",
    "licence": "license",
    "maximum": "max most highest",
    "minimum": "min least lowest",
    "max": "maximum limit most",
    "min": "minimum least",
    "mem": "memory ram",
    "memory": "ram mem",
    "cron": "schedule run start time nightly daily weekly night hour",
    "schedule": "cron run time",
    "timeout": "wait long",
    "interval": "often every",
    "retention": "keep kept long",
    "backoff": "wait retry delay",
    "delay": "wait",
    "addr": "address",
    "temp": "temperature",
    "qty": "quantity many",
    "quantity": "many amount",
    "amount": "much",
    "remark": "wrong problem note",
    "issue": "problem wrong",
    "tel": "phone telephone call",
    "mobile": "phone call",
    "repo": "repository",
    "dir": "directory folder",
    "directory": "folder",
    "pwd": "password",
    "passwd": "password",
    "env": "environment",
    "db": "database",
    "database": "db",
    "url": "address link",
    "payback": "repay",
    "enabled": "turn switch active disable",
    "disabled": "turn switch active enable",
    "license": "licence",
    "author": "write wrote written",
    "writer": "write wrote written",
    "builder": "build built",
    "architect": "design build built",
    "designer": "design",
    "founder": "found founded",
    "inventor": "invent",
    "maker": "make made",
    "manufacturer": "make made manufacture",
    "painter": "paint",
    "teacher": "teach taught",
    "speaker": "speak spoke talk",
    "organiser": "organise",
    "organizer": "organize",
    "winner": "win won",
    "buyer": "buy bought",
    "seller": "sell sold",
    "tenant": "rent",
    "landlord": "let rent",
}
_VERBS = """
    begin began begun; break broke broken; bring brought; build built; buy bought; choose chose chosen; come came;
    draw drew drawn; drive drove driven; eat ate eaten; fall fell fallen; fight fought; fly flew flown; forget forgot
    forgotten; give gave given; go went gone; grow grew grown; hold held; keep kept; know knew known; lead led; leave
    left; lose lost; make made; mean meant; meet met; pay paid; rise rose risen; run ran; say said; see saw seen; sell
    sold; send sent; shoot shot; speak spoke spoken; spend spent; stand stood; steal stole stolen; swim swam swum; take
    took taken; teach taught; tell told; think thought; throw threw thrown; wear wore worn; win won; write wrote written
"""
"""Forms that the stemmer does not bring together. Those of "find" are left out: "founded" has the stem of "found"."""


def _table() -> Mapping[str, frozenset[str]]:
    found = {stem(said): frozenset(map(stem, asked.split())) for said, asked in _ASKED_WITH.items()}
    for verb in _VERBS.split(";"):
        forms = frozenset(map(stem, verb.split()))
        for form in forms:
            found[form] = found.get(form, frozenset()) | (forms - {form})
    return MappingProxyType(found)


_RELATED = _table()


def related(terms: Iterable[str]) -> frozenset[str]:
    """Return the stems that people ask with for what a text with the stems `terms` says."""
    return frozenset[str]().union(*(_RELATED[term] for term in terms if term in _RELATED))
