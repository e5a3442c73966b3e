"""Measure search and answers on a question set, with one configuration or several."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from asky.app.ask import ChatService
from asky.app.evaluation.journal import EvalJournal
from asky.app.evaluation.requests import EvalRequest as EvalRequest
from asky.app.evaluation.result import GOES_ON, MeasuredVariant
from asky.app.evaluation.result import EvalResult as EvalResult
from asky.app.evaluation.stores import MeasuredStore, fill, open_services
from asky.app.evaluation.trec import measure_runs, run_text
from asky.app.requests import AskRequest, WebOptions
from asky.app.schemas.run import answer_object
from asky.concurrency import failure, gather, in_thread
from asky.config.changing import full_key, with_values
from asky.config.paths import resolve_paths
from asky.config.schema import Settings
from asky.errors import (
    AskyError,
    AuthenticationFailed,
    BudgetExceeded,
    ConfigError,
    NotConfigured,
    StorageError,
    UsageError,
)
from asky.evaluation.gate import Gate as Gate
from asky.evaluation.gate import read_gate
from asky.evaluation.loading import read_questions
from asky.evaluation.questions import EvalQuestion, QuestionProblem, QuestionSet, require_usable
from asky.evaluation.scoring import MEASURES as MEASURES
from asky.evaluation.sources import UNKNOWN, Relevant, SourceNames, document_name
from asky.evaluation.variation import Setting, grid, variant_name
from asky.events import Event, Listener, Noted, StageAdvanced, StageStarted, Warned, ignore
from asky.report.evaluation_page import render_evaluation
from asky.values import Failure, UnreadFile
from asky.version import __version__

if TYPE_CHECKING:
    from asky.config.loader import Config

DEPTH = 100
"""Passages that become a ranking of documents."""
_STAGE = "evaluating"
_FATAL = (AuthenticationFailed, ConfigError, NotConfigured, StorageError, UsageError)
"""Errors that every further question would end in as well."""
_MAX_FAILURES = 3  # in a row: then the endpoint is not there
_MAX_NAMED = 20  # problems of a file; more are only counted


class EvaluationService:
    """Opens evaluations. `listen` receives their events, in any thread."""

    def __init__(self, config: Config, environ: Mapping[str, str], listen: Listener = ignore) -> None:
        self._config = config
        self._environ = environ
        self._listen = listen

    def open(self, request: EvalRequest) -> Evaluation:
        """Return the evaluation of `request`: its questions are read, and nothing is measured yet.

        Raises `UsageError` if the set has lines in error, no question or documents of its own beside others, or if
        options contradict each other; `ConfigError` for a key or value that cannot be varied; and `NotConfigured` for a
        model that does not exist.
        """
        whole = read_questions(request.questions, split=request.split)
        for problem in whole.faults[:_MAX_NAMED]:
            self._listen(Noted(str(problem)))
        require_usable(whole)
        questions = whole.chosen(limit=request.limit, sample=request.sample)
        if whole.corpus is not None and (request.documents or request.collection):
            raise UsageError(f"{whole.name} brings its own documents", hint="leave --docs and --collection out")
        variants = [self._variant(settings) for settings in grid(request.vary)]
        if not request.retrieval_only:
            for each in variants:
                each.config.model(request.model)  # raises unless it exists
        return Evaluation(request, questions, variants, self._environ, self._listen)

    def read_gate(self, path: Path) -> Gate:
        """Return the gate in a TOML file. Raises `UsageError` if it is unusable or names an unknown measure."""
        return read_gate(path)

    def measure_runs(self, qrels: Path, runs: Sequence[Path]) -> EvalResult:
        """Return the measures of rankings that others made; see `asky.app.evaluation.trec`."""
        return measure_runs(qrels, runs)

    def run_text(self, result: EvalResult) -> str:
        """Return the ranking of the first variant in the format of trec_eval."""
        return run_text(result, result.variants[0]) if result.variants else ""

    def page(self, found: Mapping[str, Any]) -> str:
        """Return an `asky.eval/1` object as an HTML page that loads nothing."""
        return render_evaluation(found)

    def _variant(self, settings: Sequence[Setting]) -> Variant:
        values = {full_key(key): text for key, text in settings}
        config = with_values(self._config, values, environ=self._environ, cwd=Path.cwd())
        return Variant(variant_name(settings), values, config)


@dataclass(slots=True)
class Variant:
    """A configuration that is measured, and what was recorded of each question, by its id."""

    name: str
    settings: Mapping[str, str]
    config: Config
    records: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)


class Evaluation:
    """One evaluation. `run` measures; `result` may be called at any time, also after `run` was cancelled."""

    def __init__(
        self,
        request: EvalRequest,
        questions: QuestionSet,
        variants: Sequence[Variant],
        environ: Mapping[str, str],
        listen: Listener,
    ) -> None:
        self.questions = questions
        self._request = request
        self._variants = variants
        self._environ = environ
        self._listen = listen
        self._relevant: dict[str, Relevant] = {}
        self._problems: list[QuestionProblem] = [*questions.problems]
        self._documents: dict[str, str] = {}
        self._unread: dict[UnreadFile, None] = {}
        self._asking = False
        self._in_a_row = 0
        self._fatal: AskyError | None = None
        self._journals: list[EvalJournal] = []

    @property
    def goes_on(self) -> str:
        """How to go on after an interruption."""
        return GOES_ON

    @property
    def total(self) -> int:
        """The number of measurements: questions times variants."""
        return len(self.questions.questions) * len(self._variants)

    @property
    def done(self) -> int:
        """The number of measurements that are recorded."""
        return sum(len(each.records) for each in self._variants)

    async def run(self) -> None:
        """Measure every question with every variant; what an interrupted evaluation has measured is not repeated.

        A question that fails is recorded as a failure, and the others go on. Raises the error of the third failure in a
        row, one that ends every question, and `BudgetExceeded` if the questions have cost what they may.
        """
        for each in self._variants:
            await self._measure(each)
        if not any(each.failures for each in self._variants):
            for journal in self._journals:
                journal.remove()

    def result(self) -> EvalResult:
        """Return the figures of what has been measured so far."""
        measured = [
            MeasuredVariant(each.name, each.settings, each.records, each.failures)
            for each in self._variants
            if each.records or each.failures
        ]
        request = self._request
        return EvalResult(
            questions=self.questions,
            problems=tuple(self._problems),
            relevant=self._relevant,
            documents=self._documents,
            model=None if request.retrieval_only else ", ".join(dict.fromkeys(map(self._model_of, self._variants))),
            mode=None if request.retrieval_only else request.mode,
            variants=tuple(measured),
            complete=self.done == self.total,
            unread=tuple(self._unread),
        )

    async def _measure(self, variant: Variant) -> None:
        keys = list(variant.settings)
        with open_services(variant.config, self._environ, self._request, self.questions, keys, self._hear) as services:
            store = await fill(services, self._request, self.questions)
            self._unread |= dict.fromkeys(store.scope.unread)
            if not self._relevant:
                self._resolve(store)
            journal = EvalJournal(resolve_paths(self._environ).state / "evaluations", self._key(variant, store))
            self._journals.append(journal)
            if self._request.fresh:
                journal.remove()
            wanted = {each.id for each in self.questions.questions}
            variant.records.update({id_: each for id_, each in journal.read().items() if id_ in wanted})
            if variant.records:
                self._listen(Noted(f"{len(variant.records):,} of {len(wanted):,} questions were measured before"))
            await self._measure_left(variant, store, journal)

    async def _measure_left(self, variant: Variant, store: MeasuredStore, journal: EvalJournal) -> None:
        left = [each for each in self.questions.questions if each.id not in variant.records]
        self._listen(StageStarted(_STAGE, self.total))
        self._listen(StageAdvanced(_STAGE, self.done, self.total))
        self._asking = True
        try:
            await gather(left, partial(self._measure_one, variant, store, journal), limit=self._request.concurrency)
        finally:
            self._asking = False
        if self._fatal is not None:
            raise self._fatal

    async def _measure_one(
        self, variant: Variant, store: MeasuredStore, journal: EvalJournal, question: EvalQuestion
    ) -> None:
        if self._fatal is not None:
            return
        try:
            record = await self._record(store, question)
        except AskyError as error:
            self._failed(variant, question, error)
            return
        self._in_a_row = 0
        await in_thread(journal.add, record)
        variant.records[question.id] = record
        self._listen(StageAdvanced(_STAGE, self.done, self.total))
        self._check_cost()

    def _failed(self, variant: Variant, question: EvalQuestion, error: AskyError) -> None:
        self._in_a_row += 1
        variant.failures[question.id] = failure(error, question.id)
        self._listen(Warned(f"question {question.id}: {error.message}", error.hint))
        if isinstance(error, _FATAL) or self._in_a_row >= _MAX_FAILURES:
            self._fatal = error
            error.hint = f"{error.hint}; {GOES_ON}" if error.hint else GOES_ON

    def _check_cost(self) -> None:
        limit = self._request.max_cost_usd
        if limit is None or self.done == self.total:
            return
        spent = sum(each["answer"]["usage"]["cost_usd"] or 0 for v in self._variants for each in v.records.values())
        if spent >= limit:
            message = (
                f"the answers have cost {spent:.4f} USD of {limit:g}: {self.done:,} of {self.total:,} are measured"
            )
            self._fatal = BudgetExceeded(message, hint=f"raise --max-cost; {GOES_ON}")

    async def _record(self, store: MeasuredStore, question: EvalQuestion) -> Mapping[str, Any]:
        """Return what is kept of a question: the ids of the documents found, best first, and the answer."""
        hits = await in_thread(lambda: store.search.search_in(store.scope, question.text, limit=DEPTH))
        ranking = list(dict.fromkeys(hit.source.id for hit in hits))
        answer = None if self._request.retrieval_only else await self._ask(store, question)
        return {"id": question.id, "ranking": ranking, "answer": answer}

    async def _ask(self, store: MeasuredStore, question: EvalQuestion) -> Mapping[str, Any]:
        """Return the answer as an `asky.answer/1` object; unless runs are kept, its session is removed."""
        request, name = self._request, f"evaluation-{secrets.token_hex(6)}"
        asked = AskRequest(
            question=question.text,
            mode=request.mode,
            session=name,
            documents=store.documents,
            collections=store.collections,
            web=WebOptions(allowed=False),
            model=request.model,
            offline=request.offline,
        )
        try:
            answer = await ChatService(store.services).ask(asked, listen=self._hear)
            return answer_object(answer)
        finally:
            if not request.keep_runs:
                with anyio.CancelScope(shield=True):
                    await in_thread(_remove_session, store, name)

    def _hear(self, event: Event) -> None:
        """Pass on what concerns the user; while questions are asked, that is warnings alone."""
        if not self._asking or isinstance(event, Warned):
            self._listen(event)

    def _resolve(self, store: MeasuredStore) -> None:
        """Find the documents that the questions name. Raises `UsageError` if it is none of them."""
        names = SourceNames(store.sources)
        self._documents = {each.id: document_name(each) for each in store.sources}
        for each in self.questions.questions:
            self._relevant[each.id], problems = names.resolve(each)
            if self.questions.corpus is None:
                self._problems += problems
        named = [id_ for each in self._relevant.values() for id_ in each.gains]
        if named and all(each.startswith(UNKNOWN) for each in named):
            first = named[0].removeprefix(UNKNOWN)
            count = len(set(named))
            raise UsageError(
                f"none of the {count:,} sources that the questions name is among the documents: {first!r}, ...",
                hint="name the documents that the questions are about with --docs or --collection",
            )

    def _model_of(self, variant: Variant) -> str:
        return variant.config.model(self._request.model).name

    def _key(self, variant: Variant, store: MeasuredStore) -> list[object]:
        """Return all that the measures of a question depend on."""
        request = self._request
        settings = [repr(getattr(variant.config, each.name)) for each in fields(Settings)]
        model = None if request.retrieval_only else self._model_of(variant)
        asked = [model, request.mode, request.offline, request.retrieval_only, request.collection, request.documents]
        return [__version__, DEPTH, self.questions.sha256, store.fingerprint, settings, asked]


def _remove_session(store: MeasuredStore, name: str) -> None:
    with suppress(UsageError):  # a cancelled run is still ending
        if (session := store.services.sessions.find(name)) is not None:
            store.services.session_removal.remove(session.id)
