"""What registries say of papers that were retracted, corrected or replaced, and what is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from asky.search.identifiers import Identifier
from asky.search.lookup import RETRACTING, Notice
from tests.support.registries import RegistryWorld, registry_world
from tests.support.twins.papers import Paper

OLD = "10.1002/(sici)1099-0771(199806)11:2<107::aid-bdm292>3.0.co;2-y"
ROUND = "10.1016/s0140-6736(97)11096-0"
COMMA = "10.1001/jama.251.19.2504,2509"
RETRACTION, WITHDRAWAL, CONCERN, CORRECTION, NEWER = (
    ("retraction",), ("withdrawal",), ("concern",), ("correction",), ("newer_version",),
)  # fmt: skip


@dataclass(frozen=True)
class Record:
    """A paper, what else the registries know, how it is looked up, and the notices that are right."""

    label: str
    paper: Paper
    right: tuple[str, ...] = ()
    others: tuple[Paper, ...] = ()
    version: int | None = None
    is_notice: bool = False
    is_checked: bool = True

    @property
    def identifier(self) -> Identifier:
        if self.paper.arxiv:
            return Identifier("arxiv", self.paper.arxiv, self.version)
        if self.paper.doi:
            return Identifier("doi", self.paper.doi)
        return Identifier("pmid", self.paper.pmid or "")


def update(kind: str, doi: str = "10.5555/notice", **facts: object) -> dict[str, object]:
    return {"type": kind, "DOI": doi, "label": kind, "updated": {"date-parts": [[2010, 2, 6]]}, **facts}


def updated(*kinds: str, doi: str = "10.5555/x", title: str = "A paper", **facts: object) -> Paper:
    updates = tuple(update(kind, f"10.5555/notice.{number}") for number, kind in enumerate(kinds))
    return Paper(title, doi=doi, updated_by=updates, **facts)  # type: ignore[arg-type] # facts of the test


def notice(kind: str, doi: str, *more: dict[str, object]) -> Paper:
    return Paper("A notice", doi="10.5555/notice", update_to=(update(kind, doi), *more))


def updating(kind: str, doi: str, title: str = "A", **facts: object) -> Paper:
    return Paper(title, doi="10.5555/x", update_to=(update(kind, doi),), **facts)  # type: ignore[arg-type] # as above


def cited(reference: str, *types: str, title: str = "A paper", **facts: object) -> Paper:
    references = ((reference, "Lancet. 2010 Feb 6;375(9713):445", "20137807"),) if reference else ()
    types = types or ("Journal Article",)
    return Paper(title, pmid="41", references=references, types=types, **facts)  # type: ignore[arg-type] # as above


def preprint(note: str, **facts: object) -> Paper:
    return Paper("A preprint", arxiv="2301.01234", note=note, **facts)  # type: ignore[arg-type] # as above


RECORDS = [
    # the types of Crossref, in the record of the paper
    Record("retraction", updated("retraction"), RETRACTION),
    Record("retraction in capitals", updated("RETRACTION"), RETRACTION),
    Record("partial retraction", updated("partial_retraction"), RETRACTION),
    Record("partial retraction with a hyphen", updated("Partial-Retraction"), RETRACTION),
    Record("withdrawal", updated("withdrawal"), WITHDRAWAL),
    Record("removal", updated("removal"), WITHDRAWAL),
    Record("expression of concern", updated("expression_of_concern"), CONCERN),
    Record("expression of concern in words", updated("Expression of concern"), CONCERN),
    Record("correction", updated("correction"), CORRECTION),
    Record("corrigendum", updated("Corrigendum"), CORRECTION),
    Record("erratum", updated("erratum"), CORRECTION),
    Record("erratum, misspelled", updated("err"), CORRECTION),
    Record("addendum", updated("addendum"), CORRECTION),
    Record("clarification", updated("clarification"), CORRECTION),
    Record("new version", updated("new_version"), NEWER),
    Record("new edition", updated("new_edition"), NEWER),
    Record("correction, then retraction", updated("correction", "retraction"), RETRACTION + CORRECTION),
    Record("three kinds", updated("addendum", "expression_of_concern", "new_version"), CONCERN + CORRECTION + NEWER),
    Record("no kind that is known", updated("reinstatement"), is_checked=False),
    Record("correction of a paper on retractions", updated("erratum", title="Retracted papers: a survey"), CORRECTION),
    Record(
        "the same from publisher and Retraction Watch",
        Paper("A paper", doi="10.5555/x", updated_by=(update("retraction", updated=None), update("retraction"))),
        RETRACTION,
    ),
    # works that update it
    Record("updated by a retraction", Paper("A", doi="10.5555/x"), RETRACTION, (notice("retraction", "10.5555/X"),)),
    Record("updated by a correction", Paper("A", doi="10.5555/x"), CORRECTION, (notice("correction", "10.5555/x"),)),
    Record(
        "corrected by a notice that retracts another",
        Paper("A", doi="10.5555/x"),
        CORRECTION,
        (notice("corrigendum", "10.5555/x", update("retraction", "10.5555/y")),),
    ),
    Record(
        "listed and updated by one notice",
        Paper("A", doi="10.5555/x", updated_by=(update("retraction"),)),
        RETRACTION,
        (notice("retraction", "10.5555/x"),),
    ),
    Record("a comma", Paper("A", doi=COMMA), RETRACTION, (notice("retraction", COMMA),)),
    Record("a comma, and clean", Paper("A", doi=COMMA)),
    Record("a comma and a colon", Paper("A", doi="10.5555/a,b:c"), is_checked=False),
    Record("angle brackets", Paper("A", doi=OLD), RETRACTION, (notice("retraction", OLD.upper()),)),
    Record("angle brackets, corrected", updated("erratum", doi=OLD), CORRECTION),
    Record(
        "one of two of an issue",
        Paper("A", doi=OLD),
        (),
        (notice("retraction", OLD.replace("<107", "<121")),),
    ),
    Record("parentheses", Paper("A", doi=ROUND), RETRACTION, (notice("retraction", ROUND.upper()),)),
    Record("nothing", Paper("A paper", doi="10.5555/x", pmid="41")),
    # the notice itself, and papers that update themselves
    Record("a retraction itself", updating("retraction", "10.5555/y", "Retracted: A"), is_notice=True),
    Record(
        "a retraction itself, marked by OpenAlex",
        updating("retraction", "10.5555/y", "Retracted: A", is_retracted=True, marked_by=("openalex",)),
        is_notice=True,
    ),
    Record("an erratum itself", updating("erratum", "10.5555/y"), is_notice=True),
    Record("a new version itself", updating("new_version", "10.5555/y")),
    Record("retracted in place", updating("retraction", "10.5555/x"), RETRACTION),
    Record(
        "an erratum that was retracted",
        updating("erratum", "10.5555/y", updated_by=(update("retraction"),)),
        RETRACTION,
        is_notice=True,
    ),
    # OpenAlex and titles
    Record("marked by OpenAlex", Paper("A", doi="10.5555/x", is_retracted=True, marked_by=("openalex",)), RETRACTION),
    Record("a retraction to OpenAlex", Paper("Retracted: A", doi="10.5555/x", work_type="retraction"), is_notice=True),
    Record("marked in its title", Paper("RETRACTED ARTICLE: A", doi="10.5555/x"), RETRACTION),
    Record("withdrawn in its title", Paper("[Withdrawn] A", doi="10.5555/x"), WITHDRAWAL),
    # PubMed
    Record("a retracted publication", cited("", "Journal Article", "Retracted Publication"), RETRACTION),
    Record("RetractionIn", cited("RetractionIn", "Retracted Publication"), RETRACTION),
    Record("PartialRetractionIn", cited("PartialRetractionIn"), RETRACTION),
    Record("RetractedandRepublishedIn", cited("RetractedandRepublishedIn"), RETRACTION),
    Record("ExpressionOfConcernIn", cited("ExpressionOfConcernIn"), CONCERN),
    Record("ErratumIn", cited("ErratumIn"), CORRECTION),
    Record("CorrectedandRepublishedIn", cited("CorrectedandRepublishedIn"), CORRECTION),
    Record("UpdateIn", cited("UpdateIn"), NEWER),
    Record("CommentIn", cited("CommentIn")),
    Record("a retraction in PubMed", cited("RetractionOf", "Retraction of Publication"), is_notice=True),
    Record("an erratum in PubMed", cited("ErratumFor", "Published Erratum"), is_notice=True),
    Record("a concern in PubMed", cited("ExpressionOfConcernFor", "Expression of Concern"), is_notice=True),
    Record(
        "retracted by its DOI",
        cited("ErratumIn", doi="10.5555/x", updated_by=(update("retraction"),)),
        RETRACTION + CORRECTION,
    ),
    # arXiv
    Record("withdrawn", preprint("This paper has been withdrawn by the authors"), WITHDRAWAL),
    Record("withdrawn, in a word", preprint("Withdrawn: Lemma 2 is false"), WITHDRAWAL),
    Record("withdrawn, by its abstract", preprint("", abstract="This paper has been withdrawn."), WITHDRAWAL),
    Record("withdrawn since", preprint("Paper withdrawn by the author"), WITHDRAWAL, version=1),
    Record("an older version", preprint("9 pages"), NEWER, version=1),
    Record("the newest version", preprint("9 pages"), version=2),
    Record("in place of one that was withdrawn", preprint("Supersedes arXiv:2201.01234, which was withdrawn")),
    Record("withdrawn from a conference", preprint("Withdrawn from a workshop")),
    Record("retracted in print", preprint("", doi="10.5555/x", updated_by=(update("retraction"),)), RETRACTION),
]  # fmt: skip


@pytest.fixture(scope="module")
def world() -> Iterator[RegistryWorld]:
    with registry_world() as world:
        yield world


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.label)
def test_a_record_is_judged_rightly(world: RegistryWorld, record: Record) -> None:
    world.know(record.paper, *record.others)
    found = world.look_up(record.identifier)
    assert tuple(each.kind for each in found.paper.notices) == record.right
    assert found.paper.candidate.is_retracted == any(each in RETRACTING for each in record.right)
    assert found.paper.is_notice == record.is_notice
    assert found.has_checked_notices == record.is_checked
    assert found.failures == () or "," in (record.paper.doi or "")


def test_there_are_records_of_every_kind() -> None:
    assert len(RECORDS) >= 40
    assert {kind for record in RECORDS for kind in record.right} == {
        "retraction", "withdrawal", "concern", "correction", "newer_version",
    }  # fmt: skip


def test_a_notice_says_where_it_is_from_and_since_when(world: RegistryWorld) -> None:
    world.know(cited("RetractionIn", doi="10.5555/x", updated_by=(update("retraction"),), is_retracted=True,
                     marked_by=("openalex",)))  # fmt: skip
    assert world.look_up(Identifier("doi", "10.5555/x")).paper.notices == (
        Notice("retraction", "2010-02-06", "crossref", Identifier("doi", "10.5555/notice")),
        Notice("retraction", "2010-02-06", "pubmed", Identifier("pmid", "20137807")),
        Notice("retraction", None, "openalex"),
    )


def test_other_forms_of_a_work_are_told_and_nothing_else_that_is_related(world: RegistryWorld) -> None:
    relation = {
        "has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.2301.01234", "asserted-by": "subject"}],
        "is-version-of": [{"id-type": "doi", "id": "https://doi.org/10.5555/V"}, {"id": None}, 7],
        "is-identical-to": [{"id-type": "doi", "id": "10.5555/x"}],
        "is-supplemented-by": [{"id-type": "doi", "id": "10.5555/data"}],
        "is-comment-on": [{"id-type": "doi", "id": "10.5555/other"}],
        "has-review": None,
    }
    world.know(Paper("A", doi="10.5555/x", relation=relation))
    found = world.look_up(Identifier("doi", "10.5555/x")).paper
    assert found.same_as == (Identifier("arxiv", "2301.01234"), Identifier("doi", "10.5555/v"))
