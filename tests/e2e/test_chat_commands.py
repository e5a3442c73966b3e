"""The commands of a chat at a pseudo-terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import SEARCH, cites, environ_of
from tests.e2e.test_ask_web import MOON, SAILORS, page
from tests.support.chatting import (
    CTRL_C,
    CTRL_D,
    CTRL_U,
    ENTER,
    Chatting,
    answer_to,
    asked,
    keep_prompt,
)
from tests.support.endpoint import Answer, Endpoint, Wire
from tests.support.here import run_here
from tests.support.site import Site
from tests.support.twins.web import Hit, SearxngTwin

pytestmark = pytest.mark.model

TIDES = "How many high tides are there in a day?"
TWO = cites("The moon raises two high tides a day [{key}].")


@pytest.mark.extended
def test_undo_retry_and_edit_change_what_the_model_gets_and_keep_the_record(home: Path) -> None:
    with Endpoint("One.", "Two.", "Three.", "Four.", "Five.") as endpoint:
        with Chatting("-m", "priced", "-s", "x", home=home, environ=environ_of(endpoint)) as chatting:
            chatting.prompt()
            answer_to(chatting, "First?", "One.")
            answer_to(chatting, "Second?", "Two.")
            answer_to(chatting, "/undo", "taken back: “Second?”")
            answer_to(chatting, "/save last.md", "wrote last.md")
            answer_to(chatting, "Third?", "Three.")
            answer_to(chatting, "/retry", "Four.")
            chatting.ask("/edit")
            chatting.see("edit> Third?")
            chatting.type("\x7f, please?")
            chatting.see("edit> Third, please?")
            chatting.type(ENTER)
            chatting.see("Five.")
            chatting.prompt()
        assert [asked(each) for each in endpoint.requests] == [
            ["First?"],
            ["First?", "Second?"],
            ["First?", "Third?"],
            ["First?", "Third?"],
            ["First?", "Third, please?"],
        ]
    assert "One." in (home / "last.md").read_text()  # which is the last one by then
    shown = run_here("session", "show", "x", home=home).stdout
    assert shown.count("taken back") == 6
    assert "Two." in shown
    messages = json.loads(run_here("session", "show", "x", "--json", home=home).stdout)["messages"]
    assert [each["withdrawn"] for each in messages if each["role"] == "user"] == [False, True, True, True, False]


@pytest.mark.extended
def test_an_answer_and_a_session_are_saved_and_documents_are_added(home: Path, docs: Path, tmp_path: Path) -> None:
    with (
        Endpoint(SEARCH, TWO) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "/save x.md", "no question has been asked in this chat yet")
        answer_to(chatting, f"/docs {docs}", "3 of 3 files searchable")
        assert "web off" in chatting.status()
        answer_to(chatting, TIDES, "two high tides a day [1].")
        answer_to(chatting, "/sources", "[1]")
        answer_to(chatting, "/check", "1 statement: 1 supported")
        for name in ("a.md", "a.json", "a.html"):
            answer_to(chatting, f"/save {tmp_path / name}", f"wrote {tmp_path / name}"[:60])
        answer_to(chatting, f"/export {tmp_path / 'all.md'}", "all.md")
        answer_to(chatting, f"/save {tmp_path / 'a.doc'}", "not .md")
        answer_to(chatting, "/cost", "1 question")
        assert "about" not in chatting.text()
    assert "two high tides a day [^1]" in (tmp_path / "a.md").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["schema"] == "asky.answer/1"
    assert "<!doctype html>" in (tmp_path / "a.html").read_text()
    assert TIDES in (tmp_path / "all.md").read_text()


def test_a_plan_is_shown_and_asked_only_as_the_user_leaves_it(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("/plan What is it?")
        chatting.see("usually   1 call")
        chatting.see("plan> What is it?")
        chatting.type(CTRL_U + ENTER)
        chatting.see("cancelled; nothing was asked")
        chatting.prompt()
        assert endpoint.requests == []
        chatting.ask("/plan What is it?")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "plan> What is it?", "the plan again")
        chatting.type("\x7f not?" + ENTER)
        chatting.see_that(
            lambda: (
                chatting.text().count("usually   1 call") == 3
                and chatting.rows()[chatting.cursor_row()] == "plan> What is it not?"
            ),
            "the new plan",  # the row alone is also what was typed
        )
        chatting.type(ENTER)
        chatting.see("Yes.")
        chatting.prompt()
        assert [asked(each) for each in endpoint.requests] == [["What is it not?"]]


@pytest.mark.extended
def test_a_saved_prompt_is_expanded_where_it_is_typed(home: Path) -> None:
    with Endpoint("Yes.") as endpoint:
        keep_prompt(home)
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ) as chatting:
            chatting.prompt()
            chatting.type("/sho")
            chatting.see("/short  saved prompt")
            chatting.type(CTRL_U)
            (home / "asky" / "config" / "research.toml").unlink()  # the chat has read it, and does not read it again
            answer_to(chatting, "/short why is it so", "Yes.")
        assert asked(endpoint.requests[0]) == ["Briefly: why is it so"]


@pytest.mark.extended
def test_a_session_can_be_changed_within_a_chat(home: Path) -> None:
    with Endpoint("One.", "Two.", "Three.") as endpoint:
        with Chatting("-m", "priced", "-s", "first", home=home, environ=environ_of(endpoint)) as chatting:
            chatting.prompt()
            answer_to(chatting, "First?", "One.")
            answer_to(chatting, "/session other/one", "not a session name")
            answer_to(chatting, "/session second", "now in the new session second")
            answer_to(chatting, "Second?", "Two.")
            assert chatting.status().endswith("| second")
            answer_to(chatting, "/session first", "now in the session first")
            answer_to(chatting, "Third?", "Three.")
        assert [asked(each) for each in endpoint.requests] == [["First?"], ["Second?"], ["First?", "Third?"]]


@pytest.mark.extended
def test_the_queries_of_a_plan_can_be_changed_before_they_are_sent(home: Path) -> None:
    with Site() as site, Endpoint("Two a day.") as endpoint:
        site.page("/tides", html=page("Tides", MOON, SAILORS))
        with SearxngTwin(rows=[Hit(site.url("/tides"), "Tides", "About tides and the moon.")]) as twin:
            environ = {
                "ASKY_SEARCH__SEARXNG__BASE_URL": twin.base_url,
                "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]),
            }
            with Chatting("-m", "priced", home=home, environ=environ_of(endpoint, **environ)) as chatting:
                chatting.prompt()
                chatting.ask("/plan How do the tides of the sea come about?")
                chatting.see("plan> How do the tides of the sea come about?")
                chatting.see(". search: How do the tides of the sea come about?")
                assert not twin.requests
                chatting.type("\x17" * 9)  # Ctrl-W takes a word each
                chatting.see_that(
                    lambda: chatting.rows()[chatting.cursor_row()].strip() == ". search:", "a query without words"
                )
                chatting.type("moon and sea")
                chatting.see("search: moon and sea")
                chatting.type(ENTER)
                chatting.see("Two a day.")
                chatting.prompt()
            assert [request.params["q"] for request in twin.requests] == [["moon and sea"]]
    ledger = json.loads(run_here("runs", "show", "--json", home=home).stdout)["ledger"]
    assert [each["data"]["queries"] for each in ledger if each["kind"] == "shortlisted"] == [["moon and sea"]]


@pytest.mark.extended
def test_leaving_the_prompt_of_a_command_asks_nothing_and_the_chat_goes_on(home: Path) -> None:
    with (
        Endpoint("One.", "Two.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "First?", "One.")
        chatting.ask("/edit")
        chatting.see("edit> First?")
        chatting.type(CTRL_U + CTRL_D)
        chatting.see("nothing was asked")
        chatting.prompt()
        answer_to(chatting, "/etc/hosts is what?", "Two.")
        assert [len(asked(each)) for each in endpoint.requests] == [1, 2]
        assert asked(endpoint.requests[1])[1].endswith("is what?")


@pytest.mark.extended
def test_documents_that_are_named_again_are_said_to_be_there(home: Path, docs: Path) -> None:
    empty = home / "empty"
    empty.mkdir()
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint), columns=200) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "/web", "no search service is set up, so only URLs in a question are read")
        assert "documents" not in chatting.text()
        answer_to(chatting, f"/docs {docs}", "3 of 3 files searchable")
        answer_to(chatting, f"/docs {docs}", f"{docs}: 3 documents, nothing new")
        answer_to(chatting, f"/docs {docs / 'bread.txt'}", "1 of 1 file searchable")
        answer_to(chatting, f"/docs {docs / 'bread.txt'}", "bread.txt: 1 document, nothing new")
        (docs / "tool.exe").write_bytes(b"MZ" + bytes(64))
        answer_to(chatting, f"/docs {docs}", f"{docs}: 3 of 4 files, nothing new")
        answer_to(chatting, f"/docs {empty}", f"{empty}: no documents were found in it")
        answer_to(chatting, "/web on", "the web is on now, in addition to the documents")
        answer_to(chatting, "/web off", "the web is off now; only the documents are used")


@pytest.mark.extended
def test_paths_with_spaces_are_quoted_and_folders_that_are_missing_are_named(home: Path, docs: Path) -> None:
    spaced = home / "my notes"
    docs.rename(spaced)
    with (
        Endpoint(SEARCH, TWO) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "/docs my notes", "asky: my: no such file or folder")
        chatting.see('put quotes around a path with spaces: /docs "my notes"')
        for typed, completed in (("/docs my", "/docs my\\ notes"), ('/docs "my no', '/docs "my notes')):
            chatting.type(typed)
            chatting.see("my notes/")  # what it can become
            chatting.type("\t")
            chatting.see_that(lambda said=completed: chatting.rows()[chatting.cursor_row()] == f"> {said}", completed)
            chatting.type(CTRL_U)
            chatting.prompt()
        answer_to(chatting, '/docs "my notes"', "3 of 3 files searchable")
        answer_to(chatting, TIDES, "two high tides a day [1].")
        answer_to(chatting, "/save my notes/a.md", 'put quotes around a path with spaces: /save "my notes/a.md"')
        answer_to(chatting, '/save "my notes/a.md"', "wrote my notes/a.md")
        answer_to(chatting, "/save my\\ notes/b.md", "wrote my notes/b.md")
        answer_to(chatting, '/save "no such/a.md"', "there is no folder no such")
        chatting.see("`mkdir -p 'no such'` creates it")
        answer_to(chatting, "/export none/all.md", "there is no folder none")
        answer_to(chatting, "/save", "/save needs a file")
    assert (spaced / "a.md").read_text() == (spaced / "b.md").read_text()


@pytest.mark.extended
def test_what_a_stopped_call_cost_is_said_to_be_an_estimate(home: Path) -> None:
    with (
        Endpoint("One.", Answer("Never.", wire=Wire(silent_before_headers=True))) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "First?", "One.")
        chatting.ask("/cost")
        chatting.see("session      1 question, ")
        chatting.prompt()
        assert "about" not in chatting.text()
        chatting.ask("Second?")
        chatting.see_that(lambda: len(endpoint.requests) == 2, "the call")
        chatting.interrupt()
        chatting.see("stopped")
        chatting.prompt()
        answer_to(chatting, "/cost", "session      2 questions, about ")
        assert re.search(r"last answer  \d model calls?, about ", chatting.text())


@pytest.mark.extended
def test_a_question_in_a_file_is_read_where_it_is_typed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("Why is\nit so?\n")
    with Endpoint("Yes.", "No.") as endpoint:
        with Chatting("-m", "priced", home=home, environ=environ_of(endpoint), columns=160) as chatting:
            chatting.prompt()
            answer_to(chatting, f"file://{tmp_path}/nosuch.txt", "nosuch.txt: No such file or directory")
            answer_to(chatting, f"file://{tmp_path}/asked.txt", "Yes.")
            answer_to(chatting, f"/edit file://{tmp_path}/asked.txt", "No.")
        assert [asked(each) for each in endpoint.requests] == [["Why is\nit so?"], ["Why is\nit so?"]]


@pytest.mark.extended
def test_a_command_at_the_prompt_of_a_plan_is_never_asked(home: Path) -> None:
    keep_prompt(home)
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("/plan What is it?")
        chatting.see("plan> What is it?")
        chatting.type(CTRL_U + "/session talk2" + ENTER)
        chatting.see("/session is a command, not a question; nothing was asked")
        chatting.prompt()
        chatting.ask("/plan What is it?")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "plan> What is it?", "the plan again")
        chatting.type(CTRL_C)  # no Enter
        chatting.see("nothing was asked")
        chatting.prompt()
        chatting.ask("/plan")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "plan>", "an empty plan")
        chatting.type("/short why" + ENTER)
        chatting.see("plan> Briefly: why")
        chatting.type(CTRL_U + "exit" + ENTER)
        chatting.see("cancelled; nothing was asked")
        chatting.prompt()
        assert endpoint.requests == []
        assert chatting.status().endswith("| new session")
