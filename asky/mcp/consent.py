"""Asking the user through the host: by a request of the server, or by a result that the host answers with a new call.

Versions of the protocol before 2026-07-28 let a server ask while a call goes on. Later ones have the call return what
it needs; the host asks, and calls again with the answer and the token that it was given.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp import MCPError, types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from asky.text.printable import one_line
from asky.values import FileChange, OutgoingQueries

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from asky.app.serving.runs import PendingApproval

_KEY = "approve"
_FIELD = "send"
_MAX_QUERIES = 50
_SCHEMA = {
    "type": "object",
    "properties": {_FIELD: {"type": "boolean", "title": "Send this"}},
    "required": [_FIELD],
}


class InputNeeded(Exception):
    """The call ends here: the host asks the user, and calls again with the answer."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("the user is asked first")
        self.result = result


class Consent:
    """The user behind one call. `can_ask` says that the host shows questions to its user."""

    def __init__(self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> None:
        self._ctx = ctx
        self._params = params
        asks = ctx.session.client_capabilities
        forms = asks.elicitation if asks is not None else None
        self.can_ask = forms is not None and (forms.form is not None or forms.url is None)

    async def approve(self, asked: OutgoingQueries | FileChange) -> bool:
        """Ask about words that this call itself would send; see `asky.values.Approve`. Raises `InputNeeded`.

        A change to a file is declined: the tools that write are off unless the user has allowed them.
        """
        if isinstance(asked, FileChange):
            return False
        token = hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()
        return await self._ask(asked, token)

    async def settle(self, pending: PendingApproval) -> None:
        """Ask about words that a run would send, and pass the answer on to it. Raises `InputNeeded`."""
        pending.settle(is_approved=await self._ask(pending.queries, pending.token))

    async def _ask(self, queries: OutgoingQueries, token: str) -> bool:
        if not self.can_ask:
            return False
        message = _question(queries)
        if self._ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            with suppress(MCPError):  # a host that cannot ask after all
                return _is_yes(await self._ctx.session.elicit_form(message, _SCHEMA, self._ctx.request_id))
            return False
        given = (self._params.input_responses or {}).get(_KEY) if self._params.request_state == token else None
        if given is None:
            request = types.ElicitRequest(
                params=types.ElicitRequestFormParams(message=message, requested_schema=_SCHEMA)
            )
            raise InputNeeded(types.InputRequiredResult(input_requests={_KEY: request}, request_state=token))
        return _is_yes(given)


def _question(queries: OutgoingQueries) -> str:
    hosts = ", ".join(dict.fromkeys(one_line(host) for _, host in queries.services))
    shown = [f"- {one_line(each)}" for each in queries.queries[:_MAX_QUERIES]]
    hidden = len(queries.queries) - len(shown)
    more = [f"- and {hidden} more"] if hidden else []
    return "\n".join([f"May asky send this to {hosts or 'the web'}? {one_line(queries.reason)}.", *shown, *more])


def _is_yes(answer: object) -> bool:
    if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
        return False
    return (answer.content or {}).get(_FIELD) is True
