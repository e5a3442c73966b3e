"""Mails and notebooks that somebody has saved as text."""

from __future__ import annotations

import json

import pytest

from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.process.worker import read
from asky.values import Document
from tests.support.mails import HEAD, mail

_MAIL = "message/rfc822"
_NOTEBOOK = "application/x-ipynb+json"


def _notebook(**first: object) -> bytes:
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["# Tides\n", "The pier floods at 4.1 m."]}
    return json.dumps({**first, "cells": [cell] * 200, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _read(data: bytes, media_type: str, name: str) -> Document:
    return read(data, name=name, media_type=media_type, max_chars=1_000_000)


@pytest.mark.parametrize("name", ["mail.txt", "mail.TEXT", "mail.md", "mail.log", "mail"])
@pytest.mark.parametrize(
    "data",
    [
        mail("The dock is closed."),
        mail("The dock is closed.").replace(b"\n", b"\r\n"),
        b"From ada@x.test Mon Mar  2 09:00:00 2026\n" + mail("The dock is closed."),
        b"\xef\xbb\xbf" + mail("The dock is closed."),
        b"Received: by mx.x.test\n\twith SMTP\n" + mail("The dock is closed."),
        # more than is looked at, as servers of companies write it
        b"".join(
            b"Received: from a%d.x.test by b%d.x.test with SMTP; Mon, 2 Mar 2026\n" % (n, n) for n in range(200)
        ).replace(b"Received", b"Delivered-To", 1)
        + mail("The dock is closed."),
    ],
)
def test_a_mail_that_is_saved_as_text_is_read_as_a_mail(name: str, data: bytes) -> None:
    assert media_type_of(name, data[:HEAD_BYTES]) == _MAIL
    document = _read(data, _MAIL, name)
    assert "The dock is closed." in document.text
    assert "MIME-Version" not in document.text


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}\nA mail that was printed, or copied from the screen.",
        "From: Bergen\nTo: Oslo\nDate: 2 March\nSubject: the ferry\nMIME-Version is no word that we use.\n\nText.",
        "Date: 2 March 2026\n\nFrom: here\nSubject: a diary\nMessage-ID: none",
        "A mail begins so:\nFrom: a@x.test\nDate: today\nSubject: x\nMessage-ID: <1@x.test>\n",
        "Subject,From,Date,Message-ID\n1,2,3,4\n",
    ],
)
def test_a_text_that_only_resembles_a_mail_stays_a_text(text: str) -> None:
    assert media_type_of("a.txt", text.encode()) == "text/plain"


@pytest.mark.parametrize("name", ["tides.txt", "tides.json"])
@pytest.mark.parametrize("first", [{}, {"nbformat": 4}, {"metadata": {"kernelspec": {"name": "python3"}}}])
def test_a_notebook_that_is_saved_as_text_is_read_as_a_notebook(name: str, first: dict[str, object]) -> None:
    data = _notebook(**first)
    assert media_type_of(name, data[:HEAD_BYTES]) == _NOTEBOOK
    assert _read(data, _NOTEBOOK, name).text.startswith("# Tides\nThe pier floods at 4.1 m.")


def test_what_begins_like_a_notebook_and_is_none_is_read_as_text() -> None:
    data = _notebook()[:5_000]
    assert media_type_of("cut.txt", data) == _NOTEBOOK
    document = _read(data, _NOTEBOOK, "cut.txt")
    assert document.media_type == "text/plain"
    assert "The pier floods" in document.text


def test_other_json_with_cells_is_no_notebook() -> None:
    assert media_type_of("sheet.json", b'{"cells": [{"row": 1, "source": "x"}]}') == "application/json"
    assert media_type_of("note.txt", b'A file has {"cells": [{"cell_type": "code", "source": []}]}') == "text/plain"
