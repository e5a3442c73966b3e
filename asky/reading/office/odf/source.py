"""The parts of a file of OpenDocument: an archive, or all in one XML text ("flat")."""

from __future__ import annotations

import io
import posixpath
import zipfile
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.office.archive import check_archive, parse_xml
from asky.reading.office.odf.names import DC, MANIFEST, MATH, META, OFFICE, XLINK, local

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_CONTENT = "content.xml"
_LOCKED = "encrypted-package"  # the only content of a file with a password from LibreOffice 24.8 on


class OpenSource:
    """The content of a file, and what it refers to.

    `content` and `styles` are the roots with the text and with the common styles; in a flat file they are the same.
    Raises SourceUnreadable: encrypted, unsupported, failed; and what the parser of XML raises.
    """

    def __init__(self, data: bytes, name: str, *, is_flat: bool = False) -> None:
        self._archive: zipfile.ZipFile | None = None
        if is_flat:
            self.content = self.styles = parse_xml(data)
            if self.content.tag != f"{OFFICE}document":
                raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
            return
        if _is_locked(data):
            raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted")
        check_archive(data, name, _CONTENT)
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._names = frozenset(self._archive.namelist())
        manifest = self.xml("META-INF/manifest.xml")
        if manifest is not None and next(manifest.iter(f"{MANIFEST}encryption-data"), None) is not None:
            raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted")
        content = self.xml(_CONTENT)
        if content is None or not content.tag.startswith(OFFICE):
            raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
        styles = self.xml("styles.xml")
        self.content = content
        self.styles = styles if styles is not None else content

    @property
    def body(self) -> Element | None:
        """The content of the body: `office:text`, `office:spreadsheet` and the like."""
        body = self.content.find(f"{OFFICE}body")
        return next((each for each in body if local(each)), None) if body is not None else None

    def xml(self, path: str) -> Element | None:
        """Return the root of a part; `None` if it is not there."""
        data = self._raw(path)
        return parse_xml(data) if data else None

    def _raw(self, path: str) -> bytes | None:
        return self._archive.read(path) if self._archive is not None and path in self._names else None

    def object_in(self, element: Element) -> Element | None:
        """Return the root of an object that is part of the document: `office:document...` or `math`; `None` if none."""
        inner = next((each for each in element if each.tag in (f"{OFFICE}document", MATH)), None)
        if inner is not None:
            return inner
        folder = self.folder_of(element)
        return self.xml(posixpath.join(folder, _CONTENT)) if folder else None

    def folder_of(self, element: Element) -> str:
        """Return the path that an element refers to within the archive; "" if it is elsewhere."""
        stated = element.get(f"{XLINK}href", "")
        path = posixpath.normpath(stated.removeprefix("./")).strip("/")
        return "" if not stated or ":" in path or path.startswith("..") else path

    def file_at(self, path: str) -> bytes | None:
        """Return an object that is a folder of the archive as an archive of its own, or a part; `None` if neither."""
        if self._archive is None:
            return None
        if path in self._names:
            return self._archive.read(path)
        inside = [each for each in self._archive.namelist() if each.startswith(f"{path}/") and each[-1] != "/"]
        if not inside:
            return None
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
            for each in inside:
                made.writestr(each.removeprefix(f"{path}/"), self._archive.read(each))
        return out.getvalue()

    def facts(self) -> dict[str, str]:
        """Return `title`, `author`, `published` and `subject` as far as the file states them."""
        root = self.xml("meta.xml") if self._archive is not None else self.content
        meta = root.find(f"{OFFICE}meta") if root is not None else None
        if meta is None:
            return {}
        stated = {each.tag: " ".join(each.text.split()) for each in meta if isinstance(each.tag, str) and each.text}
        found = {
            "title": stated.get(f"{DC}title"),
            "author": stated.get(f"{META}initial-creator") or stated.get(f"{DC}creator"),
            "published": (stated.get(f"{DC}date") or stated.get(f"{META}creation-date") or "")[:10],
            "subject": stated.get(f"{DC}subject"),
        }
        return {name: value for name, value in found.items() if value}


def _is_locked(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _LOCKED in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False  # what is the matter is told by the check that follows
