"""Mails as programs write them, made by hand: the standard library would mend what they do wrong."""

from __future__ import annotations

HEAD = "From: Ada Byrne <ada@x.test>\nTo: bob@x.test\nDate: Mon, 2 Mar 2026 09:00:00 +0100\nSubject: Dock\n"


def mail(body: str | bytes, content: str = "text/plain; charset=utf-8", head: str = HEAD, fields: str = "") -> bytes:
    """Return a message with a body of one type; `fields` are further header lines."""
    data = body if isinstance(body, bytes) else body.encode()
    return f"{head}{fields}MIME-Version: 1.0\nContent-Type: {content}\n\n".encode() + data


def part(body: str | bytes, content: str = "text/plain; charset=utf-8", fields: str = "") -> bytes:
    """Return a part with its header lines."""
    data = body if isinstance(body, bytes) else body.encode()
    return f"Content-Type: {content}\n{fields}\n".encode() + data


def joined(*parts: bytes, kind: str = "mixed", boundary: str = "b", more: str = "") -> bytes:
    """Return a part that has these parts."""
    body = b"".join(b"--%s\n%s\n" % (boundary.encode(), each) for each in parts) + b"--%s--\n" % boundary.encode()
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"{more}\n\n'.encode() + body


def whole(root: bytes, head: str = HEAD) -> bytes:
    """Return a message whose header lines go on with those of a part."""
    return f"{head}MIME-Version: 1.0\n".encode() + root
