"""Controls of forms in OpenDocument: their labels and what is filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.office.odf.names import FORM, OFFICE, XML, local

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_BOXES = ("checkbox", "radio")
_STATES = ("checked", "true")


def shown_controls(root: Element) -> dict[str, str]:
    """Return what each control of a document shows, by id: its label, its value, `[x]` for a box that is ticked."""
    found: dict[str, str] = {}
    for forms in root.iter(f"{OFFICE}forms"):
        for control in forms.iter(f"{FORM}*"):
            text = _shown(control)
            for name in (f"{FORM}id", f"{XML}id"):
                if text and (key := control.get(name)):
                    found[key] = text
    return found


def _shown(control: Element) -> str:
    kind = local(control)
    label = str(control.get(f"{FORM}label", "")).strip()
    if kind in _BOXES:
        state = control.get(f"{FORM}current-state") or control.get(f"{FORM}state") or ""
        chosen = state in _STATES or control.get(f"{FORM}current-selected") == "true"
        return f"[{'x' if chosen else ' '}] {label}" if label else ""
    if kind in ("listbox", "combobox"):
        picked = [
            each.get(f"{FORM}label", "")
            for each in control.iterchildren(f"{FORM}option")
            if each.get(f"{FORM}current-selected") == "true" or each.get(f"{FORM}selected") == "true"
        ]
        return "; ".join(picked) or control.get(f"{FORM}current-value", "").strip()
    if kind in ("password", "hidden", "file"):
        return ""
    return str(control.get(f"{FORM}current-value") or control.get(f"{FORM}value") or label).strip()
