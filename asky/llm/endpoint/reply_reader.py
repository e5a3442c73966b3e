"""Turns the bytes of a response into deltas and a reply, without the network: an event stream, or one JSON body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from asky.llm.endpoint.accumulate import AccumulatedReply, Accumulator
from asky.llm.endpoint.answer_text import AnswerText
from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.nesting import NestedTooDeeply, load_json
from asky.llm.endpoint.refusal import find_error
from asky.llm.endpoint.reported_usage import usage_of
from asky.llm.endpoint.request import Facts, ModelRequest
from asky.llm.endpoint.sse import SseDecoder
from asky.llm.port import Finish, Message, ModelUsage, Reply, TextDelta, ToolCall

_MAX_BODY_BYTES = 16 << 20
_BLANK = b"\xef\xbb\xbf \t\r\n"


class ErrorInReply(Exception):
    """The endpoint reported an error inside a response that began normally; `value` is the parsed error."""

    def __init__(self, value: Any) -> None:
        super().__init__("the endpoint reported an error")
        self.value = value


class NoReply(Exception):
    """The response is not a chat completion; the text describes it."""


class ReplyReader:
    """Reads one response to `model_request`.

    `feed` takes bytes and yields text as it becomes certain, `end` marks the end of the bytes, `conclude` yields the
    rest: perhaps a delta, then the reply, marked as cut if the response had not ended. The first two may raise
    `ErrorInReply` and `NoReply`. `is_done` says that nothing relevant can follow, `is_complete` that the endpoint has
    ended the reply, `is_started` that the model has generated something.
    """

    def __init__(self, endpoint: Endpoint, model_request: ModelRequest, facts: Facts) -> None:
        self.is_done = False
        self._endpoint = endpoint
        self._model_request = model_request
        self._may_call = bool(model_request.tools) and endpoint.tools and model_request.tool_choice != "none"
        offered = {spec.name: spec.parameters for spec in model_request.tools}
        # If tools are named but none may be called, servers return a call in the model's own notation as text.
        looks_for_calls = endpoint.text_tool_calls or model_request.tool_choice == "none"
        self._text = AnswerText(
            endpoint.redactor,
            starts_thinking=bool(facts.get("starts_thinking")),
            offered=offered if endpoint.tools and looks_for_calls else None,
        )
        self._decoder = SseDecoder()
        self._parts = Accumulator()
        self._body = bytearray()  # a non-streaming body, or the beginning of one that is not known yet
        self._is_stream: bool | None = None
        self._unreadable = 0
        self._replaced = 0
        self._has_text_calls = False

    @property
    def is_stream(self) -> bool:
        """Return whether the response was an event stream."""
        return bool(self._is_stream)

    @property
    def pieces(self) -> int:
        """Return the number of chunks with generated output."""
        return self._parts.pieces

    @property
    def has_called(self) -> bool:
        """Return whether a tool was called, allowed or not."""
        return self._parts.has_calls or self._has_text_calls

    @property
    def is_started(self) -> bool:
        return self._parts.is_started

    @property
    def is_complete(self) -> bool:
        return self._parts.is_complete or self._parts.is_full or self._decoder.overflowed

    @property
    def starts_thinking(self) -> bool:
        """Return whether the reply began inside thinking without an opening tag."""
        return self._text.starts_thinking

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield the text that `data` makes certain."""
        if self._is_stream is None:
            self._body += data
            beginning = bytes(self._body).lstrip(_BLANK)[:1]
            if not beginning:
                return
            self._is_stream = beginning not in b"{[<"
            data = bytes(self._body)
        elif not self._is_stream:
            self._body += data
        if self._is_stream:
            yield from self._take_events(self._decoder.feed(data))
            if self._decoder.overflowed and not self._parts.is_started:
                raise NoReply("sent an event that is too large")
            self.is_done = self.is_done or self._parts.is_full or self._decoder.overflowed
        elif len(self._body) > _MAX_BODY_BYTES:
            raise NoReply("sent a reply that is too large")

    def end(self) -> Iterator[str]:
        """Yield the text that the end of the response makes certain."""
        self.is_done = True
        if self._is_stream:
            yield from self._take_events(self._decoder.end(), at_end=True)
            if self._unreadable and not self._parts.is_started and not self._parts.is_complete:
                raise NoReply("sent events that are not a chat completion")
        elif self._body.strip():
            yield from self._take_body()

    def conclude(self) -> Iterator[TextDelta | Reply]:
        """Yield the rest."""
        gathered = self._parts.result()
        finish: Finish = "length" if self._decoder.overflowed else gathered.finish
        rest, text_calls = self._text.end(may_call=finish == "stop")
        if rest:
            yield TextDelta(rest)
        calls = gathered.calls
        raw: Mapping[str, Any] | None = gathered.raw
        warnings = list(self._warnings(gathered))
        self._has_text_calls = bool(text_calls)
        if text_calls:
            calls, raw, finish = text_calls, None, "tool_calls"
        if calls and not self._may_call:
            warnings.append(f"{self._endpoint.alias} called a tool although none was allowed; the call was not run")
            calls, raw = (), _without_calls(raw)
            finish = "stop" if finish == "tool_calls" else finish
        message = _without_keys(Message("assistant", self._text.content, tool_calls=calls, raw=raw), self._endpoint)
        yield Reply(message, finish, self._usage(gathered), tuple(warnings))

    def usage(self) -> ModelUsage:
        """Return the usage reported so far, with an estimate of the rest."""
        return self._usage(self._parts.result())

    def _usage(self, gathered: AccumulatedReply) -> ModelUsage:
        calls = (call.name + call.arguments for call in gathered.calls)
        return usage_of(
            gathered.usage,
            self._endpoint.prices,
            messages=self._model_request.messages,
            tools=self._model_request.tools if self._endpoint.tools else (),
            generated="".join((*self._parts.generated, *calls)),
        )

    def _take_events(self, events: list[str], *, at_end: bool = False) -> Iterator[str]:
        for data in events:
            if data.strip() == "[DONE]":
                self._parts.end()
                self.is_done = True
                return
            chunk = _read_payload(data)
            if find_error(chunk) is not None:
                raise ErrorInReply(find_error(chunk))
            if isinstance(chunk, Mapping):
                yield from self._take_text(self._parts.add(chunk))
            elif data.strip() and not at_end:  # the tail of a cut stream is incomplete
                self._unreadable += 1

    def _take_text(self, text: str) -> Iterator[str]:
        if text and (certain := self._text.feed(text)):
            yield certain

    def _take_body(self) -> Iterator[str]:
        text = self._body.decode("utf-8-sig", "replace")
        self._replaced = text.count("\N{REPLACEMENT CHARACTER}") - self._body.count(b"\xef\xbf\xbd")
        value = _read_payload(text)
        if find_error(value) is not None:
            raise ErrorInReply(find_error(value))
        if isinstance(value, Mapping) and isinstance(value.get("choices"), list):
            yield from self._take_text(self._parts.add_complete(value))
        elif value is not None:
            raise NoReply("sent JSON that is not a chat completion")
        elif self._body.lstrip(_BLANK).startswith(b"<"):
            raise NoReply("sent a web page")
        # otherwise the body was cut, and nothing of it is usable

    def _warnings(self, gathered: AccumulatedReply) -> Iterator[str]:
        name = self._endpoint.alias
        if self._parts.is_full or self._decoder.overflowed:
            yield f"the reply of {name} was too long and was cut"
        if replaced := self._decoder.replaced + self._replaced:
            yield f"{name} sent text that is not UTF-8; {replaced} characters were replaced"
        if self._unreadable:
            yield f"{self._unreadable} events of {name} could not be read; the answer may lack parts"
        if gathered.filtered:
            yield f"a content filter of {name} stopped the reply"
        if gathered.refused:
            yield f"{name} refused to answer"


def _without_keys(message: Message, endpoint: Endpoint) -> Message:
    """Return the message with keys hidden, also outside the answer text, where they are hidden already."""
    mask = endpoint.redactor.mask
    calls = tuple(ToolCall(mask(each.id), mask(each.name), mask(each.arguments)) for each in message.tool_calls)
    return replace(message, tool_calls=calls, raw=endpoint.redactor.mask_json(message.raw))


def _without_calls(raw: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if raw is None else {key: value for key, value in raw.items() if key != "tool_calls"}


def _read_payload(text: str) -> Any:
    """Return the JSON value of an event or a body, `None` if it is none. Raises `NoReply` for one nested too deeply."""
    try:
        return load_json(text)
    except NestedTooDeeply:
        raise NoReply("sent JSON that is nested too deeply") from None
    except ValueError:
        return None
