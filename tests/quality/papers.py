"""Sets of papers as PDFs, with what is known about each: title, authors, DOI and arXiv id."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from asky.reading.pdf import read
from asky.values import Document

# As their first pages print them; by arXiv id without the version.
TITLES = {
    "0905.2465": "Pion form factors from two-flavor lattice QCD with exact chiral symmetry",
    "0908.0054": "Ultra light bosonic dark matter and CMB",
    "1001.0012": "The Statistics of Albedo and Heat Recirculation on Hot Exoplanets",
    "1207.1925": "Introduction to tropical algebraic geometry",
    "1311.2542": "Toward a unified theory of sparse dimensionality reduction in Euclidean space",
    "1502.03167": "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift",
    "1508.05632": "ATLAS diboson excess from low scale supersymmetry breaking",
    "1510.00116": "A Wait-Free Stack",
    "1704.01689": "Existence and stability of circular orbits in general static and axisymmetric spacetimes",
    "1707.04066": "The size distribution of Near Earth Objects larger than 10 meters",
    "1708.05894": "An Improved Multi-Output Gaussian Process RNN with Real-Time Validation for Early Sepsis Detection",
    "2005.11401": "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
    "2107.05407": "PonderNet: Learning to Ponder",
    "2110.02751": "First observation of isolated nuclear recoils following neutron capture",
    "2202.00535": ("Novelty Controlled Paraphrase Generation with Retrieval Augmented Conditional Prompt Tuning"),
    "2301.05883": "QED corrections to elastic electron-nucleus scattering beyond the first-order Born approximation",
    "2304.10117": "Testing the first law of black hole mechanics with gravitational waves",
    "cs/9912018": "Computation in an algebra of test selection criteria",
    "math/9404236": "On proof and progress in mathematics",
    "quant-ph/9508027": (
        "Polynomial-Time Algorithms for Prime Factorization and Discrete Logarithms on a Quantum Computer"
    ),
}


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper as it was read, with what is known about it; what is not known is empty."""

    document: Document
    title: str = ""
    author: str = ""
    doi: str = ""
    arxiv: str = ""

    def said(self, name: str) -> str:
        """The value that reading found, empty if none."""
        return self.document.metadata.get(name, "")


def arxiv_papers(folder: Path) -> Iterator[Paper]:
    """The papers of a folder whose files are named after their arXiv id and version, with `_` for the slash."""
    for path in sorted(folder.rglob("*.pdf")):
        arxiv = path.stem.replace("_", "/")
        title = TITLES.get(re.sub(r"v\d+$", "", arxiv), "")
        yield Paper(read(path.read_bytes(), path.name), title, arxiv=arxiv)


def registered_papers(folder: Path) -> Iterator[Paper]:
    """The papers of a folder with title, first author and DOI of its `metadata*.jsonl`, taken from a registry."""
    files = {path.stem: path for path in folder.rglob("*.pdf")}
    for listing in sorted(folder.rglob("metadata*.jsonl")):
        for line in listing.read_text("utf-8").splitlines():
            row = json.loads(line)
            path = files[row["id"]]
            author = html.unescape(row["authors"][0])
            yield Paper(read(path.read_bytes(), path.name), html.unescape(row["title"]), author, row["doi"])


def plain(text: str) -> str:
    """The letters and digits of `text`, without case and accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())
