"""Unpaywall: free copies of papers, by DOI. It does not search.

100,000 requests a day, each with the user's own e-mail address. Source: unpaywall.org/products/api.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from asky.errors import AskyError, AuthenticationFailed, NotConfigured
from asky.search.identifiers import doi_of
from asky.search.port import OpenCopy
from asky.search.reply import ServiceReply, UnknownIdentifier, bad_request, malformed, unknown
from asky.search.rows import error_text, plain, web_url, within
from asky.search.service import Service

NAME = "unpaywall"
"""The name used in the configuration."""

_ADDRESS = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+")
_PLACEHOLDER = re.compile(
    r"(?:your|you|user|name|email|test|me|someone)(?:[._-]?(?:name|email|mail))?@(?:your)?(?:domain|email|company)\.\w+"
    r"|[^@]+@(?:[^@]+\.)?(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost|local)",
    re.IGNORECASE,
)
_HINT = "set search.email to an address of yours; it is sent to the service"


def make(service: Service) -> Unpaywall:
    """Return the finder of open copies."""
    return Unpaywall(service)


class Unpaywall:
    """Finds open copies of papers."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.name = service.name
        self.host = service.host

    async def find_open_copy(self, doi: str) -> OpenCopy | None:
        """Return the best open copy of the paper with this DOI, in any of its forms; `None` if none is known.

        Raises `NotConfigured` if the e-mail address is missing or invalid, before anything is sent, and the errors of
        `asky.search.port`; text without a DOI is a bad request.
        """
        email = _own_address(self.service.email, self.name)
        value = doi_of(doi)
        if value is None:
            raise bad_request(self.name, "this is not a DOI")
        params = self.service.parameters_with({"email": email})
        try:
            answer = await self.service.get_json(f"/{quote(value, safe='/')}", params, explain=self._explain)
        except UnknownIdentifier:
            return None
        return self._read(answer)

    def _explain(self, reply: ServiceReply) -> AskyError | None:
        if reply.status == 422:
            why = error_text(within(reply.json_or_none(), "message"))
            if "mail" in why.lower():
                return AuthenticationFailed(f"{self.name} refused the e-mail address", hint=_HINT)
            return bad_request(self.name, why)
        return unknown(reply, self.name)

    def _read(self, answer: object) -> OpenCopy | None:
        if not isinstance(answer, dict) or "best_oa_location" not in answer:
            raise malformed(self.name, "its answer is not a paper")
        best = answer["best_oa_location"]
        pdf_url = web_url(within(best, "url_for_pdf"))
        url = web_url(within(best, "url_for_landing_page")) or web_url(within(best, "url")) or pdf_url
        if url is None:
            return None
        version, terms, host = (plain(within(best, name), 100) for name in ("version", "license", "host_type"))
        return OpenCopy(url, pdf_url, version or None, terms or None, host or None)


def _own_address(email: str | None, name: str) -> str:
    """Return `email` if it can be a real address; the service refuses example addresses."""
    if email is None or not _ADDRESS.fullmatch(email) or _PLACEHOLDER.fullmatch(email):
        raise NotConfigured(f"{name} needs your own e-mail address", hint=_HINT)
    return email
