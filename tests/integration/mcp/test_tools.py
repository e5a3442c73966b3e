"""The tools over MCP: what is listed, what they return, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, types

from asky import AskRequest
from asky.mcp.paging import MAX_TOKENS, count_tokens
from asky.mcp.server import McpServer
from asky.mcp.tools import TOOLS
from tests.support.files import scanned_pdf
from tests.support.hosts import ERAS, fault_of, hosted, value_of
from tests.support.lab import ASKED, SECRET, Lab
from tests.support.papers import paper_pdf
from tests.support.site import Site

pytestmark = pytest.mark.anyio

MAX_LISTED_CHARS = 10_000
MAX_RESULT_SCHEMAS_CHARS = 12_000
WRITING = {"ASKY_MCP__WRITE": "true"}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


def web_of(site: Site) -> dict[str, str]:
    return {"ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]), "ASKY_NETWORK__HOST_GAP_S": "0"}


# the list


async def test_the_list_of_tools_is_short(lab: Lab, era: str) -> None:
    async with hosted(lab, era, environ=WRITING) as (client, _):
        listed = (await client.list_tools()).tools
    heads = [each.model_dump(by_alias=True, exclude_none=True, exclude={"output_schema"}) for each in listed]
    assert sum(len(json.dumps(each)) for each in heads) <= MAX_LISTED_CHARS
    assert sum(len(json.dumps(each.output_schema)) for each in listed) <= MAX_RESULT_SCHEMAS_CHARS


def test_all_tools_together_are_short_and_their_schemas_valid() -> None:
    heads = [{"name": each.name, "description": each.description, "in": dict(each.arguments)} for each in TOOLS]
    print(len(json.dumps(heads)), len(json.dumps([dict(each.returns) for each in TOOLS])), "characters")
    assert len(json.dumps(heads)) <= MAX_LISTED_CHARS
    assert len(json.dumps([dict(each.returns) for each in TOOLS])) <= MAX_RESULT_SCHEMAS_CHARS
    assert len({each.name for each in TOOLS}) == len(TOOLS)
    for each in TOOLS:
        Draft202012Validator.check_schema(dict(each.arguments))
        Draft202012Validator.check_schema(dict(each.returns))


async def test_tools_that_save_are_there_only_if_the_user_allows_them(lab: Lab, era: str) -> None:
    async with hosted(lab, era) as (client, _):
        assert "save_finding" not in {each.name for each in (await client.list_tools()).tools}
        fault = fault_of(await client.call_tool("save_finding", {"text": "The tide is high."}))
        assert "mcp.write" in fault["hint"]
    async with hosted(lab, era, environ=WRITING) as (client, _):
        saved = value_of(await client.call_tool("save_finding", {"text": "The tide is high.", "tags": ["tides"]}))
        again = value_of(await client.call_tool("save_finding", {"text": "The tide is high."}))
        assert saved["id"] == again["id"]
        assert saved["tags"] == ["tides", "mcp"]
        assert saved["trust"] != "user"
        found = value_of(await client.call_tool("query_research_memory", {"query": "tide"}))
        assert [each["text"] for each in found["findings"]] == ["The tide is high."]


async def test_annotations_say_what_a_tool_does(lab: Lab) -> None:
    async with hosted(lab, "legacy", environ=WRITING) as (client, _):
        said = {each.name: each.annotations for each in (await client.list_tools()).tools}
    assert {name for name, hints in said.items() if hints and not hints.read_only_hint} == {"ask", "save_finding"}
    assert {name for name, hints in said.items() if hints and hints.open_world_hint} == {"ask", "fetch_page"}
    assert not any(hints and hints.destructive_hint for hints in said.values())


async def test_the_library_is_offered_once_it_has_papers(lab: Lab, era: str, tmp_path: Path) -> None:
    async with hosted(lab, era) as (client, asky):
        before = {each.name for each in (await client.list_tools()).tools}
        (tmp_path / "paper.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
        await asky.papers.add([str(tmp_path / "paper.pdf")])
        assert {each.name for each in (await client.list_tools()).tools} - before == {"papers_research"}
        answer = value_of(
            await client.call_tool("papers_research", {"question": "How many tides does the moon raise?"})
        )
    assert answer["papers"] == ["2101.00001v2"]
    assert "two tides" in answer["answer"]


async def test_the_notes_of_a_vault_are_found_listed_and_read(lab: Lab, era: str, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "Recipes").mkdir(parents=True)
    (vault / "Recipes" / "Rye.md").write_text("---\ntags: [grain]\n---\nMix flour and water.\n")
    (vault / "Index.md").write_text("My notes:\n\n![[Rye]]\n")
    async with hosted(lab, era) as (client, _):
        assert "there is no tool" in fault_of(await client.call_tool("list_notes", {}))["message"]
    async with hosted(lab, era, environ={"ASKY_NOTES__VAULT": str(vault)}) as (client, _):
        first = value_of(await client.call_tool("list_notes", {"limit": 1}))
        assert ([each["path"] for each in first["notes"]], first["next_offset"]) == (["Index.md"], 1)
        tagged = value_of(await client.call_tool("list_notes", {"tag": "grain"}))
        assert ([each["path"] for each in tagged["notes"]], tagged["next_offset"]) == (["Recipes/Rye.md"], None)
        found = value_of(await client.call_tool("find_notes", {"query": "flour", "mode": "keyword"}))
        assert [each["path"] for each in found["hits"]] == ["Recipes/Rye.md"]
        read = value_of(await client.call_tool("read_note", {"path": "Index"}))
        assert "Mix flour and water." in read["text"]
        for path in ("../private/codes.md", str(lab.private / "codes.md"), "/etc/passwd", "nowhere"):
            assert SECRET not in str((await client.call_tool("read_note", {"path": path})).content)
            assert (await client.call_tool("read_note", {"path": path})).is_error


# results


async def test_passages_are_found_page_by_page(lab: Lab, era: str) -> None:
    for number in range(5):
        (lab.private / f"{number}.md").write_text(f"# Harbour {number}\n\nThe harbour {number} is deep.\n")
    async with hosted(lab, era) as (client, asky):
        await asky.corpus.add([lab.private])
        seen: list[int] = []
        offset: int | None = 0
        while offset is not None:
            found = value_of(
                await client.call_tool("search_corpus", {"query": "harbour", "limit": 2, "offset": offset})
            )
            assert len(found["hits"]) <= 2
            seen += [each["rank"] for each in found["hits"]]
            offset = found["next_offset"]
    assert seen == [1, 2, 3, 4, 5, 6]


async def test_results_name_what_was_not_read_as_their_schemas_say(lab: Lab, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for folder in (lab.private, vault):
        (folder / "tide.md").write_text("The tide is high in the harbour.\n\n%% not yet\n\nIt falls.\n")
    (tmp_path / "paper.pdf").write_bytes(paper_pdf(arxiv="2101.00001v2"))
    (tmp_path / "scan.pdf").write_bytes(scanned_pdf(1))
    calls = {
        "search_corpus": {"query": "harbour"},
        "ask": {"question": ASKED},
        "find_notes": {"query": "harbour", "mode": "keyword"},
        "read_note": {"path": "tide"},
        "list_notes": {},
        "papers_research": {"question": "How many tides does the moon raise?"},
    }
    async with hosted(lab, "legacy", environ={"ASKY_NOTES__VAULT": str(vault)}) as (client, asky):
        await asky.corpus.add([lab.private])
        await asky.papers.add([str(tmp_path / "paper.pdf"), str(tmp_path / "scan.pdf")])
        declared = {each.name: each.output_schema for each in (await client.list_tools()).tools}
        for name, arguments in calls.items():
            found = value_of(await client.call_tool(name, arguments))
            Draft202012Validator(declared[name] or {}).validate(found)
            assert {"unread", "unread_count"} <= set((declared[name] or {})["properties"]), name
            (unread,) = found["unread"]
            told = unread["verdict"] if name == "papers_research" else unread["part"]
            assert told == ("no_text_layer" if name == "papers_research" else "text from line 3")


@pytest.mark.extended
async def test_no_result_is_larger_than_a_model_can_take(lab: Lab, era: str) -> None:
    words = " ".join(f"word{number} harbour." for number in range(60_000))
    (lab.private / "long.md").write_text(f"# Harbour\n\n{words}\n")
    async with hosted(lab, era) as (client, asky):
        await asky.corpus.add([lab.private])
        found = value_of(await client.call_tool("search_corpus", {"query": "harbour", "limit": 50}))
        assert count_tokens(found) <= MAX_TOKENS
        answered = value_of(await client.call_tool("ask", {"question": "Which words are in the harbour?"}))
        assert count_tokens(answered) <= MAX_TOKENS


async def test_a_citation_opens(lab: Lab, era: str) -> None:
    async with hosted(lab, era) as (client, asky):
        await asky.corpus.add([lab.private])
        answer = value_of(await client.call_tool("ask", {"question": ASKED}))
        shown = value_of(await client.call_tool("why", {"citation": 1, "run": answer["run"]}))
        assert shown["citation"] == answer["citations"][0]
        assert shown["checks"] == {"quote": True, "sha256": True}
        assert fault_of(await client.call_tool("why", {"citation": 9}))["code"] == "usage"


@pytest.mark.few(1)
async def test_a_page_is_read_in_parts(lab: Lab, era: str) -> None:
    text = "".join(f"<p>Paragraph {number} about the tides of the harbour and the sea.</p>" for number in range(9_000))
    with Site() as site:
        site.page("/long", html=f"<html><title>Tides</title><body><article>{text}</article></body></html>")
        async with hosted(lab, era, environ=web_of(site)) as (client, _):
            read, offset = "", 0
            while offset is not None:
                page = value_of(await client.call_tool("fetch_page", {"url": site.url("/long"), "offset": offset}))
                assert count_tokens(page) <= MAX_TOKENS
                read, offset = read + page["text"], page["next_offset"]
    assert "Paragraph 0 " in read
    assert "Paragraph 8999 " in read


# what is refused


async def test_with_private_documents_an_unknown_address_is_opened_only_with_consent(lab: Lab, era: str) -> None:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"send": len(asked) > 1})

    with Site() as site:
        site.page("/tides", html="<p>The sea rises twice a day in the harbour.</p>")
        url = site.url("/tides?code=heliotrope")
        site.page("/tides?code=heliotrope", html="<p>The sea rises twice a day in the harbour.</p>")
        async with hosted(lab, era, environ=web_of(site), elicitation_callback=answer) as (client, asky):
            await asky.corpus.add([lab.private])
            assert fault_of(await client.call_tool("fetch_page", {"url": url}))["code"] == "source_refused"
            refused = await client.call_tool("ask", {"question": f"What does {url} say?", "web": True})
            assert not refused.is_error
            assert len(asked) == 2
        async with hosted(lab, era, environ=web_of(site)) as (client, _):
            assert value_of(await client.call_tool("fetch_page", {"url": url}))["url"] == url  # it is known by now
            other = {"question": f"What does {site.url('/other')} say?"}
            assert fault_of(await client.call_tool("ask", other))["code"] == "source_refused"
        assert all(url in message for message in asked)


NAMED = {
    "See 10.1234/Zebrafalcon7741 please": ["https://doi.org/10.1234/zebrafalcon7741"],
    "What is arXiv:2101.00001v2 about?": ["https://arxiv.org/abs/2101.00001v2"],
    "PMID: 31452104 and PMC6993921?": [
        "https://pubmed.ncbi.nlm.nih.gov/31452104",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC6993921",
    ],
    "doi:10.1234/a.b(c)d, [this](https://example.org/x?q=1) and www.example.org/y.": [
        "https://example.org/x?q=1",
        "https://www.example.org/y",
        "https://doi.org/10.1234/a.b(c)d",
    ],
}


@pytest.mark.parametrize("question", NAMED)
async def test_what_the_user_is_asked_about_is_what_would_be_opened(lab: Lab, question: str) -> None:
    asked: list[str] = []

    async def decline(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="decline")

    async with hosted(lab, "legacy", elicitation_callback=decline) as (client, asky):
        await asky.corpus.add([lab.private])
        refused = await client.call_tool("ask", {"question": question, "web": True})
        assert fault_of(refused)["code"] == "source_refused"
        assert asky.chat.named_addresses(question, None) == asky.chat.named_addresses(question, "none yet")
    (message,) = asked
    assert sorted(message.splitlines()[1:]) == sorted(f"- {each}" for each in NAMED[question])


async def test_a_follow_up_opens_no_address_of_an_earlier_question_without_consent(lab: Lab) -> None:
    asked: list[str] = []

    async def decline(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return types.ElicitResult(action="decline")

    async with hosted(lab, "legacy", elicitation_callback=decline) as (client, asky):
        await asky.corpus.add([lab.private])
        first = {"question": "What does 10.1234/zebrafalcon say of the tides?", "web": False, "session": "s"}
        await client.call_tool("ask", first)
        refused = await client.call_tool("ask", {"question": "And why?", "web": True, "session": "s"})
        assert fault_of(refused)["code"] == "source_refused"
    assert len(asked) == 1
    assert "https://doi.org/10.1234/zebrafalcon" in asked[0]


@pytest.mark.parametrize("secret", ["document", "finding", "vault"])
async def test_whatever_is_private_keeps_addresses_back(lab: Lab, secret: str) -> None:
    environ = {"ASKY_NOTES__VAULT": str(lab.private)} if secret == "vault" else {}
    with Site() as site:
        site.page("/tides", html="<p>The sea rises twice a day in the harbour.</p>")
        async with hosted(lab, "legacy", environ=web_of(site) | environ) as (client, asky):
            if secret == "document":
                await asky.corpus.add([lab.private])
            if secret == "finding":
                asky.memory.add(f"The code is {SECRET}.", trust="local")
            assert (await client.call_tool("fetch_page", {"url": site.url("/tides")})).is_error
        assert site.requests == []


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "file:///etc/passwd", "http://localhost/", "x", ""],
)
async def test_no_private_address_is_opened(lab: Lab, url: str) -> None:
    async with hosted(lab, "legacy") as (client, _):
        fault = fault_of(await client.call_tool("fetch_page", {"url": url}))
    assert fault["code"] in ("source_refused", "usage")


async def test_a_private_session_stays_with_the_built_in_model(lab: Lab, era: str) -> None:
    with lab.open() as asky:
        await asky.corpus.add([lab.private])
        await asky.chat.ask(AskRequest(question=ASKED, session="harbour"))
    async with hosted(lab, era, environ={"ASKY_MODEL": "far"}) as (client, _):
        answer = value_of(await client.call_tool("ask", {"question": ASKED, "session": "harbour"}))
        assert answer["model"] == "extractive"
        assert SECRET in answer["answer"]
        assert "model" not in next(each for each in TOOLS if each.name == "ask").arguments["properties"]
    assert lab.leaked == []


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("nothing", {}, "there is no tool nothing"),
        ("ask", {}, "'question' is a required property"),
        ("ask", {"question": 7}, "question: 7 is not of type 'string'"),
        ("ask", {"question": "Why?", "model": "far"}, "'model' was unexpected"),
        ("search_corpus", {"query": "x", "limit": 1000}, "limit: 1000 is greater than"),
        ("search_corpus", {"query": "x", "offset": -1}, "offset: -1 is less than"),
        ("search_corpus", {"query": "x"}, "no documents are kept yet"),
        ("run_status", {"run": "nowhere"}, "there is no run 'nowhere'"),
        ("why", {"citation": 1}, "there are no runs yet"),
    ],
)
async def test_a_wrong_call_is_told_why(lab: Lab, era: str, name: str, given: dict[str, Any], said: str) -> None:
    async with hosted(lab, era) as (client, _):
        fault = fault_of(await client.call_tool(name, given))
    assert fault["code"] == "usage"
    assert said in fault["message"]


async def test_nulls_stand_for_what_is_left_out(lab: Lab, era: str) -> None:
    async with hosted(lab, era) as (client, asky):
        await asky.corpus.add([lab.private])
        assert value_of(await client.call_tool("search_corpus", {"query": "harbour", "collection": None}))["hits"]


async def test_a_resource_that_is_none_is_refused(lab: Lab, era: str) -> None:
    async with hosted(lab, era) as (client, _):
        for uri in ("asky://run/nowhere", "asky://other/1", "asky://run/"):
            with pytest.raises(MCPError, match="there is no"):
                await client.read_resource(uri)


async def test_a_tool_without_a_run_is_stopped_in_time(lab: Lab, era: str) -> None:
    async def hang(asked: Any, wire: Any) -> None:
        await wire.hang()

    with Site() as site:
        site.script("/slow", hang)
        site.script("/robots.txt", hang)
        async with hosted(lab, era, environ=web_of(site), limit_s=0.3) as (client, _):
            fault = fault_of(await client.call_tool("fetch_page", {"url": site.url("/slow")}))
    assert (fault["code"], fault["message"]) == ("timed_out", "timed out after 0.3s")


async def test_an_unexpected_error_is_one_line_without_a_traceback(lab: Lab, era: str) -> None:
    with lab.open() as asky:
        server = McpServer(asky, lab.environ())
        (lab.home / "asky" / "data").mkdir(parents=True, exist_ok=True)
        (lab.home / "asky" / "data" / "asky.db").write_bytes(b"no database" * 1000)
        async with Client(server.build(), mode=era) as client:
            fault = fault_of(await client.call_tool("why", {"citation": 1}))
    assert "\n" not in fault["message"]
    assert "Traceback" not in json.dumps(fault)
    assert fault["code"] == "store_damaged"


async def test_documents_that_are_kept_are_used_unless_they_are_left_out(lab: Lab, era: str) -> None:
    async with hosted(lab, era) as (client, asky):
        await asky.corpus.add([lab.private])
        answer = value_of(await client.call_tool("ask", {"question": ASKED, "web": False}))
        given = {"question": ASKED, "web": False, "default_documents": False}
        fault = fault_of(await client.call_tool("ask", given))
    assert SECRET in str(answer)
    assert fault["message"].endswith("the documents that are kept are left out and `web: false` turns the web off")
    assert "`asky setup` adds documents" in fault["hint"]
    assert " -" not in fault["hint"]
