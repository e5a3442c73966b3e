"""A pool of killable child processes that read files, usable from any thread."""

from __future__ import annotations

import math
import queue
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any

from asky.errors import Interrupted, SourceUnreadable
from asky.events import Listener, Noted, ignore
from asky.reading import scanned_pages
from asky.reading.limits import MAX_SCANNED_PAGES, ReadLimits
from asky.reading.process.child import Child, ChildEnded, ChildLate
from asky.reading.process.frames import BadFrame, unpack_document
from asky.text.scrub import one_line
from asky.values import Document

VERDICTS = (
    "empty", "unsupported", "encrypted", "no_text_layer", "too_large", "timed_out", "failed",
    "blocked", "captcha", "login", "needs_javascript", "missing",
)  # fmt: skip
_MAX_UTF8_BYTES = 4  # of one character
_MESSAGE_CHARS = 500


class ReaderPool:
    """Reads files in up to `workers` child processes, started on demand.

    Blocking and thread-safe: to read in parallel, call `read` from several threads. A file that crashes, hangs or
    exceeds a limit costs its child and nothing else. Use it as a context manager, or call `close`. `listener` is told,
    from any thread, of a file whose scanned pages take time.
    """

    def __init__(self, limits: ReadLimits | None = None, workers: int = 2, listener: Listener = ignore) -> None:
        self._limits = limits or ReadLimits()
        self._listener = listener
        self._workers = workers
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._closed = False
        # A slot for each worker. Last in, first out: a running child is reused before another one is started.
        self._slots: queue.LifoQueue[Child | None] = queue.LifoQueue()
        for _ in range(workers):
            self._slots.put(None)

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def read(
        self,
        data: bytes,
        *,
        name: str,
        media_type: str,
        url: str | None = None,
        charset: str | None = None,
        keep_chars: int | None = None,
        wait_s: float = math.inf,
    ) -> Document:
        """Return the document in `data`. Messages refer to it as `name`; `media_type` selects the reader.

        `url` says that it came from the web, and from where: links become absolute, and an obstacle page is refused.
        `charset` is from the response's header; it is used if plausible. `keep_chars` is how much of a text is kept
        from its beginning; `metadata["omitted_characters"]` counts the rest. `wait_s` is how long the caller waits,
        for other files to be read and for this one.

        Raises SourceUnreadable with the verdict empty, unsupported, encrypted, no_text_layer, too_large, timed_out or
        failed, and with `url` also blocked, captcha, login, needs_javascript or missing; Interrupted if the pool is
        closed before or during the call.
        """
        name = one_line(name)
        self._check_size(data, name)
        deadline = time.monotonic() + wait_s
        child = self._take(name, deadline)
        try:
            how = {"media_type": media_type, "url": url, "charset": charset, "keep_chars": keep_chars}
            answer, payload = self._ask(child, data, name, how, deadline)
            scans = _scanned_pages(answer)
            if scans and scanned_pages.is_ocr_available():
                self._drop(child)
                child = self._start(name, max(self._limits.memory_bytes, self._limits.scan_memory_bytes))
                return self._recognised(child, data, name, how, deadline, scans, (answer, payload))
        finally:
            self._give_back(child)
        return _document(answer, payload, name)

    def prepare(self, media_type: str) -> None:
        """Start the children in the background, and have them import what reads `media_type`.

        Pages that are about to arrive are then read at once: a first page in HTML takes a second longer.
        """
        for _ in range(self._workers):
            threading.Thread(target=self._prepare, args=(media_type,), name="prepare-reader", daemon=True).start()

    def _prepare(self, media_type: str) -> None:
        with suppress(SourceUnreadable, Interrupted):  # whatever is wrong is said of the first file
            self.read(b"<p>.</p>", name="nothing", media_type=media_type)

    def _recognised(
        self,
        child: Child,
        data: bytes,
        name: str,
        how: dict[str, Any],
        deadline: float,
        scans: int,
        plain: tuple[dict[str, Any], bytes],
    ) -> Document:
        """Return the document with the text of its scanned pages; without it if it has other text and that fails."""
        pages = "1 scanned page" if scans == 1 else f"{scans:,} scanned pages"
        self._listener(Noted(f"{name}: recognising the text of {pages}"))
        try:
            document = _document(*self._ask(child, data, name, how, deadline, scans), name)
        except SourceUnreadable as error:
            if plain[0].get("verdict") is not None:
                raise
            self._listener(Noted(f"{error.message}; {pages} left out"))
            document = _document(*plain, name)
            document = replace(
                document, metadata={k: v for k, v in document.metadata.items() if k != scanned_pages.SCANNED}
            )
        finally:
            child.usable = False  # it holds the models, and its limits are others
        return document

    def close(self) -> None:
        """Kill the children, even while reading. A `read` in another thread raises Interrupted."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.kill()
        self._empty_slots()

    def _empty_slots(self) -> None:
        """Drop the children of the slots that no `read` holds; the slots stay, for waiting callers."""
        emptied = 0
        try:
            while True:
                child = self._slots.get_nowait()
                emptied += 1
                if child is not None:
                    self._drop(child)
        except queue.Empty:
            for _ in range(emptied):
                self._slots.put(None)

    def _check_size(self, data: bytes, name: str) -> None:
        if not data:
            raise SourceUnreadable(f"{name}: an empty file", verdict="empty")
        if len(data) > self._limits.max_bytes:
            raise SourceUnreadable(
                f"{name}: {len(data):,} bytes, the limit is {self._limits.max_bytes:,}", verdict="too_large"
            )

    def _take(self, name: str, deadline: float) -> Child:
        """Return a child for exclusive use: an idle one, else a new one. Waits for a free slot."""
        child = self._wait_for_slot(name, deadline)
        if child is not None and child.is_running() and not self._closed:
            return child
        try:
            if child is not None:
                self._drop(child)  # it ended while idle, which is not the next file's fault
            return self._start(name, self._limits.memory_bytes)
        except BaseException:
            self._slots.put(None)
            raise

    def _wait_for_slot(self, name: str, deadline: float) -> Child | None:
        if deadline == math.inf:
            return self._slots.get()
        try:
            return self._slots.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise SourceUnreadable(f"{name}: other files took all the available time", verdict="timed_out") from None

    def _start(self, name: str, memory_bytes: int) -> Child:
        with self._lock:
            if self._closed:
                raise Interrupted(f"{name}: reading was stopped")
            try:
                child = Child(memory_bytes)
            except OSError as error:
                raise SourceUnreadable(f"{name}: no process could be started to read it ({error})") from None
            self._children.add(child)
            return child

    def _give_back(self, child: Child) -> None:
        if not child.usable:
            self._drop(child)
        self._slots.put(child if child.usable else None)
        if self._closed:
            self._empty_slots()  # `close` may have looked just before

    def _drop(self, child: Child) -> None:
        with self._lock:
            self._children.discard(child)
        child.close()

    def _ask(
        self, child: Child, data: bytes, name: str, how: dict[str, Any], deadline: float, scans: int = 0
    ) -> tuple[dict[str, Any], bytes]:
        """Ask `child` for the document, with the text of its scanned pages recognised if there are `scans` of them."""
        limits = self._limits
        more_s = limits.page_s * scans
        limits = replace(limits, timeout_s=limits.timeout_s + more_s, cpu_s=limits.cpu_s + more_s)
        timeout_s = max(0.0, min(limits.timeout_s, deadline - time.monotonic()))
        request = {
            **how, "name": name, "max_chars": limits.max_chars, "cpu_s": limits.cpu_s, "recognise": scans > 0
        }  # fmt: skip
        try:
            return child.ask(request, data, timeout_s=timeout_s, max_payload_bytes=_MAX_UTF8_BYTES * limits.max_chars)
        except ChildLate:
            raise SourceUnreadable(
                f"{name}: parser stopped after {round(timeout_s, 1):g} s", verdict="timed_out"
            ) from None
        except BadFrame as error:
            raise SourceUnreadable(f"{name}: the parser gave an invalid answer ({error})") from None
        except ChildEnded as ended:
            if self._closed:
                raise Interrupted(f"{name}: reading was stopped") from None
            raise _explain(ended.status, name, limits) from None


def _explain(status: int | None, name: str, limits: ReadLimits) -> SourceUnreadable:
    if status == -signal.SIGXCPU:
        return SourceUnreadable(f"{name}: parser stopped after {limits.cpu_s} s of CPU time", verdict="timed_out")
    if status == -signal.SIGKILL:
        return SourceUnreadable(f"{name}: parser was killed, perhaps because the machine ran out of memory")
    if status is not None and status < 0:
        return SourceUnreadable(f"{name}: parser crashed ({signal.Signals(-status).name})")
    return SourceUnreadable(
        f"{name}: parser ended with exit status {status}",
        hint=f"`python -m asky.reading.process.worker {limits.memory_bytes} </dev/null` shows whether it starts",
    )


def _scanned_pages(answer: dict[str, Any]) -> int:
    """Return how many pages of the file a reply leaves out because their text is in images."""
    metadata = answer.get("metadata")
    count = metadata.get(scanned_pages.SCANNED) if isinstance(metadata, dict) else answer.get("scanned_pages")
    try:
        return max(0, min(int(count), MAX_SCANNED_PAGES)) if isinstance(count, (int, str)) else 0
    except ValueError:
        return 0


def _document(answer: dict[str, Any], payload: bytes, name: str) -> Document:
    """Return the document of a reply. Raises SourceUnreadable if the reply is a failure or invalid."""
    verdict = answer.get("verdict")
    if verdict is None:
        try:
            return unpack_document(answer, payload)
        except BadFrame as error:
            raise SourceUnreadable(f"{name}: the parser gave an invalid answer ({error})") from None
    hint = answer.get("hint")
    raise SourceUnreadable(
        one_line(str(answer.get("message")), _MESSAGE_CHARS),
        verdict=verdict if verdict in VERDICTS else "failed",
        hint=None if hint is None else one_line(str(hint), _MESSAGE_CHARS),
        scanned_pages=_scanned_pages(answer),
    )
