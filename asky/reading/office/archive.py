"""What the files of office programs have in common: archives of XML parts, related to each other."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from asky.errors import SourceUnreadable
from asky.reading.office.old import OLE_MAGIC, not_an_archive
from asky.reading.zip_guard import check_zip

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_STRICT = b"http://purl.oclc.org/ooxml/"
_USUAL = b"http://schemas.openxmlformats.org/"


class UnreadableOffice:
    """Turns whatever a library raises for a broken file into SourceUnreadable."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, SourceUnreadable | MemoryError) or not isinstance(error, Exception):
            return
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise SourceUnreadable(f"{self._name}: not a readable office file ({reason})") from None


def check_archive(data: bytes, name: str, entry: str | None) -> None:
    """Raise SourceUnreadable unless this is an ordinary archive, with an entry if one is named."""
    if data.startswith(OLE_MAGIC):
        raise not_an_archive(data, name)
    check_zip(data, name, needs=[entry] if entry is not None else [])


def file_facts(facts: Any) -> dict[str, str | None]:
    created = facts.modified or facts.created
    return {
        "author": getattr(facts, "author", None) or getattr(facts, "creator", None),
        "published": created.date().isoformat() if created is not None else None,
        "subject": facts.subject,
    }


def media_type(kind: str) -> str:
    return f"application/vnd.openxmlformats-officedocument.{kind}"


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: `kind` is the last part of its type, `target` the path of a part, or an address."""

    id: str
    kind: str
    target: str
    is_external: bool


class Package:
    """The parts of an Office Open XML file (ECMA-376), with the namespaces of its strict form as the usual ones.

    Nothing outside of the file is read: no external parts, no DTDs, no entities. `with UnreadableOffice` turns what is
    raised for a damaged one into SourceUnreadable.
    """

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._relations: dict[str, Mapping[str, Relation]] = {}
        self._names = {name.replace("\\", "/").lower(): name for name in self._archive.namelist()}

    @cached_property
    def main(self) -> str:
        """The path of the part that the package is about. Raises ValueError if there is none."""
        found = [each.target for each in self.relations("").values() if each.kind == "officeDocument"]
        if not found or self.raw(found[0]) is None:
            raise ValueError("no main part")
        return found[0]

    def names(self) -> list[str]:
        """Return the paths of all parts, in the order of the archive."""
        return list(self._names.values())

    def raw(self, path: str) -> bytes | None:
        """Return the bytes of a part, whatever the case of its path; `None` if it is not there."""
        found = self._names.get(path.lower())
        return self._archive.read(found) if found is not None else None

    def xml(self, path: str) -> Element | None:
        """Return the root of a part; `None` if it is not there."""
        data = self.raw(path)
        return parse_xml(data) if data is not None else None

    def relations(self, path: str) -> Mapping[str, Relation]:
        """Return what a part, or with "" the package, refers to, by id."""
        if path not in self._relations:
            folder, file = posixpath.split(path)
            root = self.xml(posixpath.join(folder, "_rels", f"{file}.rels"))
            found = [_relation(each, folder) for each in root.iter("{*}Relationship")] if root is not None else []
            self._relations[path] = {each.id: each for each in found}
        return self._relations[path]

    def related(self, path: str, kind: str) -> list[str]:
        """Return the paths of the parts of a kind that a part refers to, in order."""
        return [each.target for each in self.relations(path).values() if each.kind == kind and not each.is_external]

    def facts(self) -> dict[str, str]:
        """Return `title`, `author`, `published` and `subject` as far as the file states them."""
        for path in self.related("", "core-properties"):
            root = self.xml(path)
            fields = root if root is not None else ()
            stated = {_local(each): each.text.strip() for each in fields if each.text and each.text.strip()}
            found = {
                "title": stated.get("title"),
                "author": stated.get("creator"),
                "published": (stated.get("modified") or stated.get("created") or "")[:10],
                "subject": stated.get("subject"),
            }
            return {name: value for name, value in found.items() if value}
        return {}


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML text; a strict file of Office gets the names of the transitional form."""
    from lxml import etree

    if _STRICT in data:
        data = data.replace(_STRICT + b"spreadsheetml/main", _USUAL + b"spreadsheetml/2006/main")
        for name in (b"wordprocessingml", b"presentationml", b"drawingml"):
            data = data.replace(_STRICT + name + b"/", _USUAL + name + b"/2006/")
        data = data.replace(_STRICT + b"officeDocument/", _USUAL + b"officeDocument/2006/")
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))


def _relation(element: Element, folder: str) -> Relation:
    target, is_external = element.get("Target", ""), element.get("TargetMode") == "External"
    if not is_external:
        target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return Relation(element.get("Id", ""), element.get("Type", "").rpartition("/")[2], target, is_external)


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
