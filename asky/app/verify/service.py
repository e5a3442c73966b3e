"""`VerifyService`: judges each statement of any text against given documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from asky.app.inputs import Inputs, name_documents, require_documents, unread_names, unreadable_error
from asky.app.verify.claims_object import claims_object
from asky.app.verify.judging import Judgement, StatementJudge
from asky.app.verify.reading import TextToVerify, read_file, read_text
from asky.app.verify.reasons import reason_of
from asky.app.verify.values import (
    ResolvedReference,
    VerifiedClaim,
    VerifiedText,
    VerifyRequest,
    count_verdicts,
    is_unresolved,
)
from asky.concurrency import in_thread
from asky.errors import SourceError, UnsupportedClaim, UsageError
from asky.events import Noted, StageAdvanced, StageFinished, StageStarted
from asky.evidence.answer import citation_json
from asky.evidence.references.resolving import NamedSources
from asky.evidence.references.statements import CitedStatement, read_statements
from asky.report.gathering import gather_passages
from asky.report.verified_page import render_verified
from asky.storage.scope import Scope
from asky.text.beside.remarks import without_remarks
from asky.text.counting import counted
from asky.text.scrub import one_line
from asky.values import Citation, Claim, Hit, Source

if TYPE_CHECKING:
    from asky.wiring import Services

_STAGE = "verify"
_NO_STATEMENT = "headings, questions, code and lists of references are no statements"
_MAX_NAMED = 5


class VerifyService:
    """Verifies texts. The text is never a source itself: where a given document is the same text, that is left out."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def verify(self, request: VerifyRequest) -> VerifiedText:
        """Return the statements of a text, each with its verdict.

        Raises `UsageError` if the text, a document or a collection does not exist, or the documents have no text;
        `SourceError` if the text cannot be read, or states nothing.
        """
        started = time.monotonic()
        await in_thread(require_documents, self._services, request.documents)
        text = await in_thread(self._read, request)
        read = await in_thread(read_statements, without_remarks(text.text))
        if not read.statements:
            raise SourceError(f"{text.name}: no statement to verify", hint=_NO_STATEMENT)
        inputs = Inputs(self._services, self._services.listener)
        for each in request.documents:
            await inputs.add_document(each)
        await in_thread(inputs.add_collections, request.collections, None)
        await in_thread(inputs.require_readable, Scope(tuple(inputs.collections)))
        unread = await in_thread(inputs.unread_of, tuple(inputs.collections))
        scope, sources, left_out = await in_thread(self._scope, tuple(inputs.collections), text)
        named = NamedSources(sources)
        references = tuple(ResolvedReference(each, named.find(each)) for each in read.references)
        warnings = tuple(_warnings(references, left_out, read.ignored))
        for each in warnings:
            self._services.listener(Noted(each))
        claims, passages = await in_thread(self._judge, text.text, read.statements, references, scope)
        counts = count_verdicts(claims)
        return VerifiedText(
            text.name,
            str(text.path) if text.path else None,
            text.text,
            claims,
            passages,
            references,
            tuple(sources),
            left_out,
            warnings,
            time.monotonic() - started,
            counts,
            unread,
            tuple(unread_names(unread, request.documents)),
        )

    def page(self, verified: VerifiedText) -> str:
        """Return a verified text as an HTML page that needs nothing else."""
        documents, corpus = self._services.documents, self._services.corpus
        ids = {each.sha256: corpus.current_document(each.source.id) for each in verified.passages}

        def text_of(sha256: str) -> str | None:
            id_ = ids.get(sha256)
            return documents.text(id_) if id_ is not None else None

        citations = [citation_json(each) for each in verified.passages]
        return render_verified(claims_object(verified), gather_passages(citations, text_of))

    @staticmethod
    def raise_for_outcome(verified: VerifiedText) -> None:
        """Raise `UnsupportedClaim` if there are `VerifiedText.faults`, `SourceError` if a named file is unread."""
        if verified.faults:
            many = counted(verified.faults, "statement is", "statements are")
            raise UnsupportedClaim(f"{many} not supported by the documents, or not by the cited one")
        if verified.unread_names:
            raise unreadable_error(verified.unread_names)

    def _read(self, request: VerifyRequest) -> TextToVerify:
        if isinstance(request.text, Path):
            return read_file(self._services, request.text)
        return read_text(self._services, request.text, request.name)

    def _scope(self, collections: tuple[int, ...], text: TextToVerify) -> tuple[Scope, list[Source], tuple[str, ...]]:
        """Return the sources of the collections that have a text, without those that are the text itself.

        Raises `UsageError` if there are none.
        """
        corpus, documents = self._services.corpus, self._services.documents
        if not collections:
            hint = f"{name_documents(self._services)}, or keep some with `asky corpus add PATH`"
            raise UsageError("there are no documents to verify against", hint=hint)
        kept, left_out = list[Source](), list[str]()
        for source in corpus.sources(Scope(collections)):
            document_id = corpus.current_document(source.id)
            if document_id is None:
                continue
            is_itself = text.path is not None and source.path == str(text.path)
            if is_itself or documents.digest(document_id)[0] in text.hashes:
                left_out.append(source.path or source.url or source.title)
            else:
                kept.append(source)
        if not kept:
            what = "have no text but the one to verify" if left_out else "have no text"
            raise UsageError(f"the given documents {what}", hint=name_documents(self._services))
        ids = tuple(each.id for each in kept) if left_out else None
        return Scope(collections, ids), kept, tuple(left_out)

    def _judge(
        self,
        text: str,
        statements: Sequence[CitedStatement],
        references: Sequence[ResolvedReference],
        scope: Scope,
    ) -> tuple[tuple[VerifiedClaim, ...], tuple[Citation, ...]]:
        started, listener = time.monotonic(), self._services.listener
        listener(StageStarted(_STAGE, len(statements)))
        cited = {each.reference.n: each.source_ids for each in references}
        judge = StatementJudge(
            self._services.vectors,
            self._services.documents,
            scope,
            cited,
            lambda done: listener(StageAdvanced(_STAGE, done, len(statements))),
            self._services.claim_reader,
        )
        passages = _Passages(self._services)
        claims = [
            _claim(text, statement, judged, cited, passages)
            for statement, judged in zip(statements, judge.judge(statements), strict=True)
        ]
        listener(StageFinished(_STAGE, time.monotonic() - started, counted(len(claims), "statement")))
        return tuple(claims), tuple(passages.numbered.values())


@dataclass(slots=True)
class _Passages:
    """Numbers passages in order of first use, each once."""

    services: Services
    numbered: dict[int, Citation] = field(default_factory=dict)

    def number(self, hit: Hit) -> int:
        found = self.numbered.get(hit.chunk_id)
        if found is None:
            sha256, _ = self.services.documents.digest(hit.document_id)
            n = len(self.numbered) + 1
            found = Citation(n, "", hit.source, hit.location, hit.span, hit.text, sha256, hit.score)
            self.numbered[hit.chunk_id] = found
        return found.n


def _claim(
    text: str,
    statement: CitedStatement,
    judged: Judgement,
    cited: dict[int, tuple[str, ...]],
    passages: _Passages,
) -> VerifiedClaim:
    number = passages.number(judged.passage) if judged.passage is not None else None
    check = judged.check
    for name in ("quotation", "says"):
        if isinstance(place := check.checks.get(name), dict):
            check = replace(check, checks={**check.checks, name: {**place, "n": number}})
    unresolved = [each for each in statement.references if not cited.get(each.n)]
    span = statement.span
    claim = Claim(
        text[span.start : span.end],
        span,
        (number,) if number is not None else (),
        check.verdict,
        check.score,
        check.checks,
    )
    better = passages.number(judged.better) if judged.better is not None else None
    return VerifiedClaim(
        claim,
        statement.text,
        tuple(each.n for each in statement.references),
        reason_of(replace(judged, check=check), statement.references, unresolved),
        better,
    )


def _warnings(references: Iterable[ResolvedReference], left_out: Sequence[str], ignored: int) -> Iterable[str]:
    for path in left_out:
        yield f"{path}: left out of the documents, as it is the text to verify"
    missing = [one_line(each.reference.written, 60) for each in references if is_unresolved(each)]
    if missing:
        more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
        yield f"cited, but none of the given documents: {', '.join(missing[:_MAX_NAMED])}{more}"
    if ignored:
        yield f"{counted(ignored, 'citation')} beyond the first 999 different ones not followed"
