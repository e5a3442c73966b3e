"""The paper library at a terminal: a conversation of four queries, from stages to panels and saved results."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chatting import Chatting
from tests.support.endpoint import Endpoint, Request
from tests.support.here import run_here
from tests.support.papers import pages_with, paper_pdf

PROMPTS = "Prompt engineering is the design of prompts that guide large language models to a desired output."
SHOTS = "Few-shot prompting puts examples into the prompt, and prompt engineering chooses them."
SOFT = "Prompt tuning learns soft prompts as continuous vectors, and is a form of prompt engineering."
CHAINS = "Chain-of-thought prompting has the model show its reasoning: prompt engineering for complex tasks."
AUTOMATIC = "Automatic prompt engineering has language models generate and refine prompts."
TRANSFORMERS = "Transformers work by self-attention: attention mechanisms in neural networks relate all positions."
SOFTMAX = (
    "Transformers compute attention as softmax(QK/d)V, the mathematical foundations of scaled dot-product attention."
)
ALIGN = "Attention mechanisms in neural networks learn to align the words of two languages."
PATCHES = "Attention mechanisms in neural networks are surveyed here, from words to patches of images."

ANSWERS = {
    "what is prompt engineering": """# What is Prompt Engineering?

Prompt engineering is the design of prompts that guide large language models to a desired output \
[2301.12345v1, page 3]. Prompt tuning learns soft prompts as continuous vectors [2302.67890v2, page 12].

Few-shot prompting puts examples into the prompt [2301.12345v1, page 7]. Chain-of-thought prompting has the model show \
its reasoning [2303.11111v1, page 5]. Language models also generate and refine prompts [2304.22222v1, page 9].""",
    "how do transformers work": """# How Do Transformers Work?

Transformers work by self-attention [1706.03762v5, page 2].""",
    "add more details about the mathematical foundations": """# How Do Transformers Work?

## Mathematical Foundations

Transformers compute attention as softmax(QK/d)V [1706.03762v5, page 4].""",
    "attention mechanisms in neural networks": """Attention mechanisms relate all positions [1706.03762v5, page 2]. \
They learn to align the words of two languages [1409.0473v7, page 1]. They are surveyed from words to patches \
of images [2010.11929v2, page 1].""",
}

pytestmark = pytest.mark.model


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    def answer(request: Request) -> str:
        asked = request.messages[-1]["content"].partition("\n# Evidence")[0]
        return next(text for query, text in reversed(ANSWERS.items()) if query in asked)

    with Endpoint(answer) as opened:
        yield opened


@pytest.fixture
def environ(home: Path, library: Path, endpoint: Endpoint) -> dict[str, str]:
    made = {
        "ASKY_PROVIDERS__LAB__BASE_URL": endpoint.base_url,
        "ASKY_MODELS__FAR__PROVIDER": "lab",
        "ASKY_MODELS__FAR__ID": "test-model",
        "ASKY_MODEL": "far",
    }
    shutil.copytree(library, home / "asky", dirs_exist_ok=True)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with seven papers."""
    home = tmp_path_factory.mktemp("library")
    folder = home / "downloads"
    folder.mkdir()
    papers = [
        ("2301.12345v1", "Prompt Engineering Techniques for Large Language Models", "J. Smith, A. Johnson",
         "15 Jan 2023", {1: PROMPTS, 3: PROMPTS, 7: SHOTS}),
        ("2302.67890v2", "Language Model Prompting: Strategies and Applications", "M. Jones, K. Davis", "20 Feb 2023",
         {1: PROMPTS, 12: SOFT, 18: SOFT}),
        ("2303.11111v1", "Chain-of-Thought Prompting in Neural Language Models", "T. Brown, C. Garcia", "10 Mar 2023",
         {1: PROMPTS, 5: CHAINS, 15: CHAINS}),
        ("2304.22222v1", "Automatic Prompt Optimization for LLMs", "R. Anderson, S. Taylor", "5 Apr 2023",
         {1: PROMPTS, 9: AUTOMATIC}),
        ("1706.03762v5", "Attention is All You Need", "Ashish Vaswani, Noam Shazeer", "6 Dec 2017",
         {1: TRANSFORMERS, 2: TRANSFORMERS, 4: SOFTMAX}),
        ("1409.0473v7", "Neural Machine Translation by Jointly Learning to Align and Translate",
         "Dzmitry Bahdanau, Kyunghyun Cho", "19 May 2016", {1: ALIGN}),
        ("2010.11929v2", "An Attentive Survey of Attention Models", "Ann Marsh", "3 Jun 2021", {1: PATCHES}),
    ]  # fmt: skip
    for arxiv, title, authors, dated, texts in papers:
        made_pdf = paper_pdf(title, authors=authors, arxiv=arxiv, pages=pages_with(texts), dated=dated)
        (folder / f"{arxiv}.pdf").write_bytes(made_pdf)
    added = run_here("papers", "add", str(folder), home=home)
    assert "7 PDFs: 7 added\n" in added.stderr, added.stderr
    return home / "asky"


def rows_of(chatting: Chatting) -> str:
    """All that the screen shows, without the boxes and with single blanks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", chatting.text()).split())


def test_a_query_is_answered_in_stages_and_its_papers_are_opened(home: Path, environ: dict[str, str]) -> None:
    with Chatting(home=home, environ=environ, rows=60) as chatting:
        chatting.prompt()
        chatting.ask("/papers")
        chatting.see("papers>")
        chatting.ask("research what is prompt engineering")
        chatting.see("(e.g., `open 2`)")
        text = chatting.text()
        stages = (
            r"🔍 +Stage 1: Searching summaries for relevant papers\.\.\.\n"
            r"   Found 4 relevant papers\n\n"
            r"📚 +Stage 2: Gathering detailed evidence from 4 papers\.\.\.\n"
            r"   Retrieved \d+ content chunks\n\n"
            r"✍.*\n\n"  # this terminal draws nothing after a sign with a selector
            r"╭─+ 📝 +Research Results ─+╮\n"
        )
        assert re.search(stages, text), text
        assert "✍️  Stage 3: Synthesizing answer from evidence...\r\n" in chatting.sent
        shown = rows_of(chatting)
        assert "What is Prompt Engineering? Prompt engineering is the design of prompts that guide" in shown
        assert (
            "a desired output [2301.12345v1, page 3]. Prompt tuning learns soft prompts as continuous vectors" in shown
        )
        assert (
            "1 2301.12345v1 - Prompt Engineering Techniques for Large Language Models Authors: J. Smith, A. Johnson"
            " Published: 2023-01-15 2 2302.67890v2 - Language Model Prompting: Strategies and Applications Authors: M."
            " Jones, K. Davis Published: 2023-02-20 3 2303.11111v1 - Chain-of-Thought Prompting in Neural Language"
            " Models Authors: T. Brown, C. Garcia Published: 2023-03-10 4 2304.22222v1 - Automatic Prompt Optimization"
            " for LLMs Authors: R. Anderson, S. Taylor Published: 2023-04-05"
        ) in shown
        assert (
            "💡 Next steps: • Use `save` to save these results • Use `improve <feedback>` to refine the answer • Use"
            " `summary <number>` to view paper summaries (e.g., `summary 1`) • Use `open <number>` to view full papers"
            " (e.g., `open 2`)"
        ) in shown


@pytest.mark.extended
def test_an_answer_is_improved_and_saved(home: Path, environ: dict[str, str]) -> None:
    with Chatting(home=home, environ=environ, rows=60) as chatting:
        chatting.prompt()
        chatting.ask("/papers")
        chatting.see("papers>")
        chatting.ask("research how do transformers work")
        chatting.see("(e.g., `open 2`)")
        chatting.ask("improve add more details about the mathematical foundations")
        chatting.see("Mathematical Foundations")
        assert "✍️  Improving research answer with your feedback...\r\n" in chatting.sent
        chatting.see("softmax(QK/d)V [1706.03762v5, page 4].")
        chatting.see_that(lambda: chatting.text().count("(e.g., `open 2`)") == 2, "the next steps")
        chatting.ask("save")
        chatting.see("Saving research results...")
        chatting.see("Research results saved to:")
        (saved,) = (home / "asky" / "data" / "papers" / "results").iterdir()
        assert re.fullmatch(r"how-do-transformers-work_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.md", saved.name)
        text = saved.read_text()
        assert text.startswith("# How Do Transformers Work?\n\n## Mathematical Foundations\n\nTransformers compute")
        assert "\n\n## References\n\n1. 1706.03762v5 - Attention is All You Need  \n" in text


@pytest.mark.extended
def test_a_query_about_nothing_in_the_library_says_so(home: Path, environ: dict[str, str], endpoint: Endpoint) -> None:
    with Chatting(home=home, environ=environ, rows=40, columns=140) as chatting:
        chatting.prompt()
        chatting.ask("/papers research quantum computing applications in medieval literature")
        chatting.see(
            'No papers found relevant to query: "quantum computing applications in medieval literature". Try refining'
        )
        assert "🔍" in chatting.text()
        assert "Found" not in chatting.text()
    assert endpoint.requests == []


@pytest.mark.extended
def test_the_papers_of_an_answer_are_numbered_in_order_of_their_ids(home: Path, environ: dict[str, str]) -> None:
    with Chatting(home=home, environ=environ, rows=60) as chatting:
        chatting.prompt()
        chatting.ask("/papers research attention mechanisms in neural networks")
        chatting.see("(e.g., `/papers open 2`)")
        names = re.findall(r"^│ +(\d) ([\d.v]+) - ", chatting.text(), re.MULTILINE)
        assert names == [("1", "1409.0473v7"), ("2", "1706.03762v5"), ("3", "2010.11929v2")]
        chatting.ask("/papers summary 1")
        chatting.see("Paper id: 1409.0473v7")
        chatting.see("Authors: Dzmitry Bahdanau, Kyunghyun Cho")
        chatting.ask("/papers open 2")
        chatting.see("Paper Content: 1706.03762v5")
        chatting.see("PDF Location: ")
        assert "📝 Response" in re.sub(" +", " ", chatting.text())
