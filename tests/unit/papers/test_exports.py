"""Exports of reference managers, as these write them."""

from __future__ import annotations

import codecs
import logging

import pytest
import rispy
from pybtex.database import parse_string

from asky.errors import SourceUnreadable
from asky.papers.exports import ExportedPaper, is_export, read_export

ZOTERO = r"""
@misc{marsh_tides_2021,
	title = {On the {Tides} of {Lakes}: 50\% \& more},
	url = {http://arxiv.org/abs/2101.00001},
	doi = {10.48550/arXiv.2101.00001},
	abstract = {We measure tides, 5\% at most.},
	urldate = {2024-02-01},
	publisher = {arXiv},
	author = {Marsh, Ada and Pérez, Ethan and De Smet, Lies},
	month = jan,
	year = {2021},
	note = {arXiv:2101.00001 [physics]
Comment: extends arXiv:1901.00009},
	file = {Full Text PDF:files/12/Marsh - Tides\; of Lakes.pdf:application/pdf;Snapshot:files/13/21.html:text/html},
}

@article{li_lakes_2019,
	title = {Lakes},
	volume = {3},
	copyright = {© 2019 The Author(s)},
	issn = {0000-0000},
	url = {https://www.nature.com/articles/s41586-019-0001-1},
	doi = {10.5555/s41586-019-0001-1},
	journal = {Journal of Lakes},
	author = {Li, Bo},
	month = sep,
	year = {2019},
	note = {PMID: 31234567},
	file = {Windows:C\:\\Users\\ada\\Zotero\\storage\\AB12\\Li - 2019.pdf:application/pdf},
}
"""
BETTER_BIBTEX = r"""
@online{marshTidesLakes2021,
  title = {On the Tides of {{Lakes}}},
  author = {Marsh, Ada and family=Berg, given=Ann, prefix=van der, useprefix=true and {{The Lake Consortium}}},
  date = {2021-01-04},
  eprint = {2101.00001},
  eprinttype = {arXiv},
  eprintclass = {physics},
  url = {http://arxiv.org/abs/2101.00001},
  pubstate = {prepublished},
  file = {/home/ada/Zotero/storage/AB12/Marsh - 2021.pdf;/home/ada/Zotero/storage/AB13/2101.html}
}
@article{liPonds2020,
  title = {Ponds},
  author = {Li, Bo},
  date = {2020-05/2020-06},
  journaltitle = {Ponds \& Pools},
  shortjournal = {Ponds Pools},
  eprint = {31234567},
  eprinttype = {pubmed},
  file = {Full Text:storage/AB14/Li - 2020.pdf:application/pdf}
}
"""
JABREF = r"""% Encoding: UTF-8

@Comment{jabref-meta: databaseType:bibtex;}

@String{jol = {Journal of Lakes}}

@InProceedings{Marsh2021,
  author    = {Ada Marsh and Jos{\'{e}} {Garc{\'\i}a M{\'a}rquez} and Martin Luther {King, Jr.} and Du{\v s}an Øre},
  title     = {{\"U}ber \textit{Seen} --- die ``Gezeiten'' in {\aa}r {H}$_2${O}},
  crossref  = {proc21},
  pages     = {1--2},
  file      = {:Marsh2021.pdf:PDF;:http\://x.test/slides.pdf:PDF},
}

@Article{Li2019,
  author  = "Li, Bo and others",
  title   = "Lakes " # "and " # {ponds of \O stergaard},
  journal = jol # " (online)",
  year    = 2019,
  month   = 9,
  doi     = {https://doi.org/10.5555/li\_2019},
}

@Proceedings{proc21,
  title     = {Proceedings of Lakes},
  booktitle = {Proceedings of {Lakes} '21},
  year      = {2021},
  doi       = {10.5555/proc21},
}
"""
MENDELEY = r"""
@article{Marsh2021,
abstract = {Tides.},
archivePrefix = {arXiv},
arxivId = {physics/0101001},
author = {Marsh, Ada and Li, Bo},
doi = {10.5555/(SICI)1097-0258(19980815)17:15/16<1661::AID-SIM968>3.0.CO;2-2},
eprint = {0101001},
file = {:home/ada/Mendeley Desktop/Marsh - 2021.pdf:pdf},
journal = {Journal of Lakes},
pmid = {31234567},
title = {{On the tides of lakes}},
url = {http://x.test/a{\_}b?c=1{\&}d={\%}20},
year = {2021}
}
"""
OTHERS = r"""
@article{scholar, title={Lakes}, author={Marsh, Ada}, journal={arXiv preprint arXiv:2101.00001}, year={2021}}
@article{DBLP:journals/corr/abs-2101-00002, author = {Ada Marsh}, title = {Lakes}, journal = {CoRR},
  volume = {abs/2101.00002}, year = {2021}, eprinttype = {arXiv},
  eprint = {2101.00002}, url = {https://arxiv.org/abs/2101.00002}}
@article{Marsh:2001, eprint = "hep-th/0101001", archivePrefix = "arXiv", title = "Lakes"}
@misc{page, title = {Lakes}, howpublished = "\url{https://x.test/lakes}", note = {A reply to doi:10.5555/other}}
@inproceedings{pmlr, title = {Lakes}, pdf = {http://x.test/lakes.pdf}, url = {https://x.test/lakes.html}}
@article{jstor, title = {Lakes}, eprint = {2101.0001}, eprinttype = {jstor}}
"""
RIS = """\
TY  - JOUR
AU  - Marsh, Ada
AU  - van der Berg, Ann
AU  - King, Martin Luther, Jr.
AU  - The Lake Consortium
PY  - 2021
DA  - 2021/05/22
TI  - On the tides
of lakes
JO  - J. Lakes
T2  - Journal of Lakes
AB  - We measure tides.
SN  - 0000-0000
UR  - https://doi.org/10.5555/x1
DO  - 10.5555/x1
ID  - Marsh2021
L1  - files/12/Marsh 2021.pdf
L1  - https://x.test/free.pdf
L1  - files/13/page.html
ER  -

TY  - JOUR
T1  - Lakes
A1  - Li,Bo
Y1  - 2019///
N1  - PMID: 31234567
N1  - A reply to 10.5555/other
M3  - doi: 10.5555/x2
L1  - internal-pdf://1234567/Li-2019.pdf
TY  - PREP
TI  - Ponds
UR  - http://arxiv.org/abs/2101.00001v2
L1  - file:///home/ada/Li%202020.pdf
AN  - 31234568
DB  - PubMed
ER  -
"""
CSL = """[
{"id":"http://zotero.org/users/1/items/AB12","type":"article-journal","abstract":"Tides.",
 "container-title":"Journal of Lakes","DOI":"10.5555/X1","ISSN":"0000-0000","title":"On the tides of <i>lakes</i> &amp; ponds","URL":"https://x.test/lakes",
 "author":[{"family":"Marsh","given":"Ada"},{"family":"Berg","given":"Ann","non-dropping-particle":"van der"},
           {"literal":"The Lake Consortium"}],
 "issued":{"date-parts":[["2021",5,2]]},"PMID":"31234567","PMCID":"PMC7654321"},
{"id":7,"type":"article","title":"Ponds","number":"arXiv:2101.00001","note":"arXiv:2101.00001 [physics]",
 "issued":{"date-parts":[[2020]]}}
]"""


def read(text: str, name: str = "refs.bib") -> list[ExportedPaper]:
    papers, broken = read_export(text.encode(), name)
    assert broken == []
    return papers


def keys(paper: ExportedPaper) -> list[str]:
    return [each.key for each in paper.identifiers]


def test_zotero() -> None:
    tides, lakes = read(ZOTERO)
    assert tides.name == "marsh_tides_2021"
    assert keys(tides) == ["arxiv:2101.00001"]
    assert tides.candidate.title == "On the Tides of Lakes: 50% & more"
    assert tides.candidate.authors == ("Ada Marsh", "Ethan Pérez", "Lies De Smet")
    assert (tides.candidate.published, tides.candidate.venue, tides.candidate.doi) == ("2021-01", None, None)
    assert tides.candidate.url == "https://arxiv.org/abs/2101.00001"
    assert tides.candidate.snippet == "We measure tides, 5% at most."
    assert tides.attachments == ("files/12/Marsh - Tides; of Lakes.pdf",)
    assert keys(lakes) == ["doi:10.5555/s41586-019-0001-1", "pmid:31234567"]
    assert (lakes.candidate.published, lakes.candidate.venue) == ("2019-09", "Journal of Lakes")
    assert lakes.attachments == (r"C:\Users\ada\Zotero\storage\AB12\Li - 2019.pdf",)


def test_better_bibtex() -> None:
    tides, ponds = read(BETTER_BIBTEX)
    assert keys(tides) == ["arxiv:2101.00001"]
    assert tides.candidate.title == "On the Tides of Lakes"
    assert tides.candidate.authors == ("Ada Marsh", "Ann van der Berg", "The Lake Consortium")
    assert tides.candidate.published == "2021-01-04"
    assert tides.attachments == ("/home/ada/Zotero/storage/AB12/Marsh - 2021.pdf",)
    assert keys(ponds) == ["pmid:31234567"]
    assert (ponds.candidate.published, ponds.candidate.venue) == ("2020-05", "Ponds & Pools")
    assert ponds.attachments == ("storage/AB14/Li - 2020.pdf",)


def test_jabref() -> None:
    marsh, li, volume = read(JABREF)
    assert marsh.candidate.title == "Über Seen — die “Gezeiten” in år H_2O"
    names = ("Ada Marsh", "José García Márquez", "Martin Luther King, Jr.", "Dušan Øre")
    assert marsh.candidate.authors == names
    assert (marsh.candidate.published, marsh.candidate.venue) == ("2021", "Proceedings of Lakes '21")
    assert keys(marsh) == []
    assert marsh.attachments == ("Marsh2021.pdf",)
    assert marsh.candidate.pdf_url == "http://x.test/slides.pdf"
    assert li.candidate.title == "Lakes and ponds of Østergaard"
    assert li.candidate.authors == ("Bo Li",)
    assert (li.candidate.published, li.candidate.venue) == ("2019-09", "Journal of Lakes (online)")
    assert keys(li) == ["doi:10.5555/li_2019"]
    assert keys(volume) == ["doi:10.5555/proc21"]


def test_mendeley() -> None:
    (paper,) = read(MENDELEY)
    sici = "doi:10.5555/(sici)1097-0258(19980815)17:15/16<1661::aid-sim968>3.0.co;2-2"
    assert keys(paper) == [sici, "arxiv:physics/0101001", "pmid:31234567"]
    assert paper.candidate.title == "On the tides of lakes"
    assert paper.attachments == ("home/ada/Mendeley Desktop/Marsh - 2021.pdf",)


@pytest.mark.parametrize(
    ("number", "known_as", "url"),
    [
        (0, ["arxiv:2101.00001"], "https://arxiv.org/abs/2101.00001"),
        (1, ["arxiv:2101.00002"], "https://arxiv.org/abs/2101.00002"),
        (2, ["arxiv:hep-th/0101001"], "https://arxiv.org/abs/hep-th/0101001"),
        (3, [], "https://x.test/lakes"),
        (4, [], "https://x.test/lakes.html"),
        (5, [], ""),
    ],
)
def test_ids_stand_in_many_fields_but_not_in_prose(number: int, known_as: list[str], url: str) -> None:
    paper = read(OTHERS)[number]
    assert (keys(paper), paper.candidate.url) == (known_as, url)
    assert (paper.candidate.pdf_url is not None) is (number == 4)


def test_ris() -> None:
    tides, lakes, ponds = read(RIS, "refs.ris")
    assert (tides.name, lakes.name) == ("Marsh2021", "line 22")
    assert keys(tides) == ["doi:10.5555/x1"]
    assert tides.candidate.title == "On the tides of lakes"
    assert tides.candidate.authors == (
        "Ada Marsh", "Ann van der Berg", "Martin Luther King", "The Lake Consortium",
    )  # fmt: skip
    assert (tides.candidate.published, tides.candidate.venue) == ("2021-05-22", "Journal of Lakes")
    assert tides.attachments == ("files/12/Marsh 2021.pdf",)
    assert tides.candidate.pdf_url == "https://x.test/free.pdf"
    assert keys(lakes) == ["doi:10.5555/x2", "pmid:31234567"]
    assert (lakes.candidate.authors, lakes.candidate.published) == (("Bo Li",), "2019")
    assert lakes.attachments == ("internal-pdf://1234567/Li-2019.pdf",)
    assert keys(ponds) == ["pmid:31234568", "arxiv:2101.00001"]
    assert ponds.identifiers[1].version == 2
    assert ponds.attachments == ("file:///home/ada/Li%202020.pdf",)


def test_csl_json() -> None:
    lakes, ponds = read(CSL, "refs.json")
    assert keys(lakes) == ["doi:10.5555/x1", "pmid:31234567", "pmcid:PMC7654321"]
    assert lakes.candidate.title == "On the tides of lakes & ponds"
    assert lakes.candidate.authors == ("Ada Marsh", "Ann van der Berg", "The Lake Consortium")
    assert (lakes.candidate.published, lakes.candidate.venue) == ("2021-05-02", "Journal of Lakes")
    assert (ponds.name, keys(ponds), ponds.candidate.published) == ("7", ["arxiv:2101.00001"], "2020")
    assert [each.name for each in read(f'{{"items": {CSL}}}', "refs.json")] == [lakes.name, "7"]


def test_other_readers_find_the_same_entries() -> None:
    for text in (ZOTERO, JABREF, MENDELEY):
        entries = parse_string(text, "bibtex").entries
        for paper in read(text):
            families = [" ".join(person.last_names) for person in entries[paper.name].persons.get("author", [])]
            plain = [family.strip("{}").split()[-1] for family in families if "\\" not in family and family != "others"]
            assert {name.split()[-1] for name in paper.candidate.authors} >= set(plain)
    rows = rispy.loads(RIS)
    assert rows[0]["doi"] == "10.5555/x1"
    assert len(rows) == 2  # an entry without an end runs into the next one
    assert rows[0]["title"] == read(RIS, "refs.ris")[0].candidate.title


def test_a_broken_entry_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    text = "@misc{a, doi={10.5555/a}}\n@misc{b, title={open\n}\n\n@misc{c, doi={10.5555/c}, doi={10.5555/d}}\n"
    text += "@misc{a, doi={10.5555/e}}\n@misc{f title}\n@misc{g, doi={10.5555/g"
    with caplog.at_level(logging.DEBUG):
        papers, broken = read_export(text.encode(), "refs.bib")
    assert [(each.name, keys(each)) for each in papers] == [
        ("a", ["doi:10.5555/a"]),
        ("c", ["doi:10.5555/c"]),
        ("a", ["doi:10.5555/e"]),
        ("f title", []),
    ]
    assert [each.subject for each in broken] == ["refs.bib: line 2", "refs.bib: line 8"]
    assert broken[0].message.startswith("refs.bib: line 2: ")
    assert caplog.records == []


def test_lines_outside_of_an_entry_are_named_once() -> None:
    papers, broken = read_export(b"AU  - Marsh, Ada\nTI  - Lakes\nER  - \nTY  - JOUR\nDO  - 10.5555/x\n", "a.ris")
    assert [keys(each) for each in papers] == [["doi:10.5555/x"]]
    assert [each.message for each in broken] == ["a.ris: line 1: it stands before the line `TY` that begins an entry"]


def test_a_reference_that_is_none_costs_only_itself() -> None:
    papers, broken = read_export(
        b'[1, {"DOI": "10.5555/x", "author": ["Marsh", {"family": 3}], "issued": []}]', "a.json"
    )
    assert [(each.name, keys(each), each.candidate.authors) for each in papers] == [("entry 2", ["doi:10.5555/x"], ())]
    assert [each.message for each in broken] == ["a.json: entry 1: not an object"]


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "a.bib", "it has no entries"),
        (b"%PDF-1.4", "a.ris", "it has no entries"),
        (b"[]", "a.json", "it has no entries"),
        (b"{", "a.json", "not JSON"),
        (b"[" * 100_000, "a.json", "nested too deeply"),
        (b'{"name": "asky"}', "a.json", "not a list of references"),
        (b"@misc{a}\n" * 100_001, "a.bib", "more than 100,000 entries"),
        (b"TY  - GEN\n" * 100_001, "a.ris", "more than 100,000 entries"),
        (b"[" + b"1," * 100_000 + b"1]", "a.json", "more than 100,000 entries"),
    ],
)
def test_what_is_no_export_is_refused_as_a_whole(data: bytes, name: str, why: str) -> None:
    with pytest.raises(SourceUnreadable, match=why):
        read_export(data, name)


@pytest.mark.parametrize(
    "encode",
    [
        str.encode,
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("latin-1"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
    ],
    ids=["utf-8", "utf-8-bom", "utf-16-le", "utf-16-be", "latin-1", "crlf", "cr"],
)
@pytest.mark.parametrize("name", ["a.bib", "a.ris", "a.json"])
def test_encodings_and_line_ends(encode: object, name: str) -> None:
    assert callable(encode)
    texts = {
        "a.bib": "@misc{k,\n  title = {Gezeiten der Seen für José, Bjørn, Zoé und Émile},\n}\n@misc{",
        "a.ris": "TY  - JOUR\nTI  - Gezeiten der Seen für José, Bjørn, Zoé und Émile\nER  - \nTI  - x\n",
        "a.json": '[\n{"title": "Gezeiten der Seen für José, Bjørn, Zoé und Émile"},\n1]',
    }
    papers, broken = read_export(encode(texts[name]), name)
    assert [each.candidate.title for each in papers] == ["Gezeiten der Seen für José, Bjørn, Zoé und Émile"]
    assert broken[0].subject.endswith("entry 2" if name == "a.json" else "line 4")


def test_what_grows_or_nests_without_limit_is_cut() -> None:
    names = [f"@string{{a{number} = {' # '.join([f'a{number - 1}'] * 20)}}}" for number in range(1, 20)]
    text = "\n".join(["@string{a0 = {" + "x" * 1000 + "}}", *names, "@misc{k, title = a19}"])
    assert len(read(text)[0].candidate.title) == 300
    (paper,) = read("@misc{k, title = {" + "{" * 5000 + "\\'e" + "}" * 5000 + "}}")
    assert paper.candidate.title == "'e"


def test_which_files_are_exports() -> None:
    assert [name for name in ("a.bib", "A.BibTeX", "a.RIS", "a.json", "a.pdf", "bib", "bib.a") if is_export(name)] == [
        "a.bib", "A.BibTeX", "a.RIS", "a.json",
    ]  # fmt: skip
