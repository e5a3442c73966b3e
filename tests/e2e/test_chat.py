"""A conversation at a pseudo-terminal, as a user has it."""

from __future__ import annotations

import json
import re
import signal
import stat
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import SEARCH, cites, environ_of
from tests.e2e.test_ask_web import MOON, SAILORS, page
from tests.support.asky_command import run_asky
from tests.support.chatting import ALT_ENTER, CTRL_C, CTRL_D, CTRL_J, CTRL_U, CTRL_Z, ENTER, Chatting
from tests.support.endpoint import Answer, Endpoint, Problem, Request, Wire
from tests.support.site import Site
from tests.support.twins.web import Hit, SearxngTwin

pytestmark = pytest.mark.model

TIDES = "How many high tides are there in a day?"
TWO = cites("The moon raises two high tides a day [{key}].")


def roles(request: Request) -> list[str]:
    return [message["role"] for message in request.messages]


def asked(request: Request) -> list[str]:
    """What the user said, as the model got it."""
    return [str(message["content"]) for message in request.messages if message["role"] == "user"]


def keep_prompt(home: Path) -> None:
    """Configure the saved prompt `/short`."""
    file = home / "asky" / "config" / "research.toml"
    file.parent.mkdir(mode=0o700)
    file.write_text('[prompts]\nshort = "Briefly: {{input}}"\n')


def answer_to(chatting: Chatting, question: str, words: str) -> None:
    """Ask, and wait for an answer with these words and for the next prompt."""
    chatting.ask(question)
    chatting.see(words)
    chatting.prompt()


def test_the_second_turn_cites_a_passage_of_the_first(home: Path, docs: Path) -> None:
    again = cites("As said: the moon raises two high tides a day [{key}].")
    with Endpoint(SEARCH, TWO, again) as endpoint:
        with Chatting("-d", str(docs), "-m", "priced", home=home, environ=environ_of(endpoint)) as chatting:
            chatting.prompt()
            answer_to(chatting, TIDES, "two high tides a day [1].")
            answer_to(chatting, "Once more, please?", "As said: the moon raises two high tides a day [1].")
            tokens = re.search(r"([\d,]+) tokens, \d\.\d{4} USD", chatting.status())
            assert tokens is not None
            assert tokens[1] != "0"
            assert "priced | standard | web off" in chatting.status()
            chatting.ask("/why 1")
            chatting.see("The moon pulls the water of the sea")
            chatting.see("checked: the stored text has this hash")
            chatting.prompt()
            chatting.type(CTRL_D)
            assert chatting.end() == 0
        assert roles(endpoint.requests[2]) == ["system", "user", "assistant", "tool", "assistant", "user"]
        assert endpoint.faults == []


def test_ctrl_c_stops_the_answer_keeps_what_there_is_and_the_chat_goes_on_later(home: Path) -> None:
    hanging = Answer("The moon raises some tides, and so on.", delta_chars=5, wire=Wire(silent_after=1500))
    with Endpoint(hanging, "Two.", "Still two.") as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", "-s", "sea", home=home, environ=environ) as chatting:
            chatting.prompt()
            chatting.ask(TIDES)
            chatting.see("The moon")
            chatting.interrupt()
            chatting.see("stopped; what there is of the answer is kept as run")
            chatting.prompt()
            assert chatting.status().endswith("| sea")
            answer_to(chatting, "So how many?", "Two.")
            chatting.type(CTRL_C)
            chatting.see("Ctrl-C again, or Ctrl-D, leaves")
            chatting.type(CTRL_C)
            assert chatting.end() == 0
        runs = json.loads(run_asky("runs", "list", "--json", home=home).stdout)["runs"]
        assert [run["status"] for run in runs] == ["finished", "cancelled"]
        with Chatting("-c", home=home, environ=environ) as chatting:  # the model is the session's
            chatting.see("going on in the session sea: 4 messages")
            chatting.prompt()
            answer_to(chatting, "And now?", "Still two.")
        said = [str(message["content"]) for message in endpoint.requests[2].messages[1:]]
    assert said[0] == TIDES
    assert said[1].startswith("The moon")
    assert said[2:] == ["So how many?", "Two.", "And now?"]


def test_a_note_typed_while_an_answer_is_made_leads_the_next_model_call(home: Path, docs: Path) -> None:
    held = Answer(calls=SEARCH.calls, wire=Wire(silent_before_headers=True))
    with Endpoint(held, TWO, "Noted.") as endpoint:
        with Chatting(
            "-d", str(docs), "-m", "priced", "-s", "sea", home=home, environ=environ_of(endpoint)
        ) as chatting:
            chatting.prompt()
            chatting.ask(TIDES)
            chatting.see("asking priced")
            chatting.type("only the mooon\x7f\x7fn")
            chatting.see("> only the moon")
            chatting.type(ENTER)
            chatting.see("[1 note for the model]")
            chatting.type("what of the sun?")
            chatting.see("what of the sun?")
            endpoint.release()
            chatting.see("note to the model: only the moon")
            chatting.see("two high tides a day [1].")
            chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> what of the sun?", "the draft")
            chatting.type(ENTER)
            chatting.see("Noted.")
            chatting.prompt()
        assert asked(endpoint.requests[1])[-1].endswith("only the moon")
        assert roles(endpoint.requests[1])[-2:] == ["tool", "user"]
        assert any(said.endswith("only the moon") for said in asked(endpoint.requests[2]))
        assert asked(endpoint.requests[2])[-1].endswith("what of the sun?")
        assert endpoint.faults == []
    shown = run_asky("session", "show", "sea", home=home).stdout
    assert re.search(r"^note, .*\nonly the moon$", shown, re.MULTILINE)


def test_a_line_that_comes_too_late_for_an_answer_is_the_next_question(home: Path) -> None:
    with (
        Endpoint(Answer("First.", wire=Wire(silent_before_headers=True)), "Second.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("Who?")
        chatting.see("asking priced")
        chatting.type("And why?" + ENTER)
        chatting.see("[1 note for the model]")
        endpoint.release()
        chatting.see("too late for this answer, so it is asked next: And why?")
        chatting.see("Second.")
        chatting.prompt()
        assert asked(endpoint.requests[1]) == ["Who?", "And why?"]


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
    shown = run_asky("session", "show", "x", home=home).stdout
    assert shown.count("taken back") == 6
    assert "Two." in shown
    messages = json.loads(run_asky("session", "show", "x", "--json", home=home).stdout)["messages"]
    assert [each["withdrawn"] for each in messages if each["role"] == "user"] == [False, True, True, True, False]


def test_several_lines_are_one_question_however_they_are_typed(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.paste("one\r\ntwo\n")
        chatting.see(". two")
        chatting.type("three" + ALT_ENTER)
        chatting.type("four" + CTRL_J)
        chatting.type("five\\" + ENTER)
        chatting.type("six")
        chatting.see("six")
        chatting.type(ENTER)
        chatting.see("Yes.")
        chatting.prompt()
        assert asked(endpoint.requests[0]) == ["one\ntwo\nthree\nfour\nfive\nsix"]


def test_ctrl_c_clears_a_line_and_nothing_is_asked(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.type("half a question")
        chatting.see("> half a question")
        chatting.type(CTRL_C)
        chatting.prompt()
        answer_to(chatting, "Whole?", "Yes.")
        assert asked(endpoint.requests[0]) == ["Whole?"]


def test_what_was_typed_comes_back_from_a_private_history_but_not_after_a_space(home: Path) -> None:
    with Endpoint("Yes.") as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ) as chatting:
            chatting.prompt()
            answer_to(chatting, "Kept?", "Yes.")
            answer_to(chatting, " secret?", "Yes.")
        file = home / "asky" / "state" / "chat_history"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "Kept?" in file.read_text()
        assert "secret" not in file.read_text()
        with Chatting("-m", "priced", home=home, environ=environ) as chatting:
            chatting.prompt()
            chatting.type("\x1b[A")
            chatting.see("> Kept?")


def test_commands_complete_and_unknown_ones_name_the_nearest(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.type("/sou")
        chatting.see("list the sources of the last answer")
        chatting.type("\t")
        chatting.see("> /sources")
        chatting.type(ENTER)
        chatting.see("nothing was asked in this chat yet")
        chatting.prompt()
        answer_to(chatting, "/soruces", "did you mean /sources?")
        answer_to(chatting, "/model nosuch", "asky: ")
        answer_to(chatting, "/web maybe", "/web on or /web off")
        answer_to(chatting, "/mode research", "the mode is research now")
        assert "priced | research | web" in chatting.status()
        answer_to(chatting, "/model extractive", "answers come from extractive now")
        assert "extractive | research" in chatting.status()
        chatting.ask("/help")
        chatting.see("/retry")
        chatting.prompt()
        chatting.ask("/quit")
        assert chatting.end() == 0
        assert endpoint.requests == []


def test_a_turn_that_fails_is_a_line_with_a_hint_and_the_chat_goes_on(home: Path) -> None:
    with (
        Endpoint(Problem("auth"), "Better.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("Well?")
        chatting.see("LAB_KEY")
        chatting.prompt()
        assert "Traceback" not in chatting.text()
        answer_to(chatting, "And now?", "Better.")


def test_an_answer_and_a_session_are_saved_and_documents_are_added(home: Path, docs: Path, tmp_path: Path) -> None:
    with (
        Endpoint(SEARCH, TWO) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "/save x.md", "nothing was asked in this chat yet")
        answer_to(chatting, f"/docs {docs}", "3 of 3 files searchable")
        assert "web off" in chatting.status()
        answer_to(chatting, TIDES, "two high tides a day [1].")
        answer_to(chatting, "/sources", "[1]")
        for name in ("a.md", "a.json", "a.html"):
            answer_to(chatting, f"/save {tmp_path / name}", f"wrote {tmp_path / name}"[:60])
        answer_to(chatting, f"/export {tmp_path / 'all.md'}", "all.md")
        answer_to(chatting, f"/save {tmp_path / 'a.doc'}", "not .md")
        answer_to(chatting, "/cost", "1 question")
        assert "about" not in chatting.text()
    assert "two high tides a day [1]" in (tmp_path / "a.md").read_text()
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
        chatting.see("dropped: nothing was asked")
        chatting.prompt()
        assert endpoint.requests == []
        chatting.ask("/plan What is it?")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "plan> What is it?", "the plan again")
        chatting.type("\x7f not?" + ENTER)
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "plan> What is it not?", "the new plan")
        chatting.type(ENTER)
        chatting.see("Yes.")
        chatting.prompt()
        assert [asked(each) for each in endpoint.requests] == [["What is it not?"]]


def test_a_narrow_terminal_shows_the_facts_that_fit_and_a_resize_more_of_them(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint), columns=22, rows=8) as chatting,
    ):
        chatting.see("priced | standard")
        assert "web" not in chatting.text().split("> ")[-1]
        chatting.resize(20, 90)
        chatting.see("| new session")
        assert chatting.status() == "priced | standard | web on | 0 tokens | new session"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_prompt_ends_the_chat_with_its_code(number: signal.Signals, home: Path) -> None:
    with Endpoint("Yes.") as endpoint, Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting:
        chatting.prompt()
        chatting.signal(number)
        assert chatting.end() == 128 + number
        assert "Traceback" not in chatting.text()


def test_a_dumb_terminal_gets_a_plain_prompt(home: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, TERM="dumb")) as chatting,
    ):
        chatting.see("\n>")
        chatting.type("one\\\n")
        chatting.see("\n.")
        chatting.type("two\n")
        chatting.see("Yes.")
        chatting.type(CTRL_D)
        assert chatting.end() == 0
        assert asked(endpoint.requests[0]) == ["one\ntwo"]
        assert "\x1b" not in chatting.sent


def test_no_color_and_a_locale_without_utf8_are_respected(home: Path) -> None:
    environ = {"NO_COLOR": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with (
        Endpoint("A **bold** yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, **environ)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "Well?", "bold")
        assert not re.search(r"\x1b\[(?:[0-9;]*;)?(?:3[0-9]|4[0-9]|9[0-7])m", chatting.sent)


def test_lines_of_a_pipe_are_questions_and_the_last_error_is_the_code(home: Path) -> None:
    with Endpoint("One.", Problem("auth"), "Three.") as endpoint:
        stdin = "First?\n\nSecond?\nThird?\n/why x\n"
        done = run_asky("chat", "-m", "priced", home=home, environ=environ_of(endpoint), stdin=stdin)
        assert done.returncode == 2, done.stderr
        assert "One." in done.stdout
        assert "Three." in done.stdout
        assert "> " not in done.stdout + done.stderr
        assert "LAB_KEY" in done.stderr
        assert asked(endpoint.requests[2]) == ["First?", "Second?", "Third?"]


def test_a_pipe_names_no_files_and_no_saved_prompts(home: Path, docs: Path) -> None:
    with Endpoint("Yes.") as endpoint:
        keep_prompt(home)
        environ = environ_of(endpoint)
        stdin = f"/docs {docs}\n/save x.md\n/export x.md\n/short why\n"
        done = run_asky("chat", "-m", "priced", home=home, environ=environ, stdin=stdin)
        assert done.returncode == 2
        assert done.stderr.count("not taken from a pipe") == 4
        assert endpoint.requests == []
    assert not (home / "x.md").exists()


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


def test_a_session_can_be_changed_within_a_chat(home: Path) -> None:
    with Endpoint("One.", "Two.", "Three.") as endpoint:
        with Chatting("-m", "priced", "-s", "first", home=home, environ=environ_of(endpoint)) as chatting:
            chatting.prompt()
            answer_to(chatting, "First?", "One.")
            answer_to(chatting, "/session other/one", "not a session name")
            answer_to(chatting, "/session second", "a new session second now")
            answer_to(chatting, "Second?", "Two.")
            assert chatting.status().endswith("| second")
            answer_to(chatting, "/session first", "in the session first now")
            answer_to(chatting, "Third?", "Three.")
        assert [asked(each) for each in endpoint.requests] == [["First?"], ["Second?"], ["First?", "Third?"]]


@pytest.mark.parametrize("flags", [("-r", "-L"), ("-s", "x", "-c"), ("-L", "--web")])
def test_flags_that_contradict_each_other_end_it_before_it_begins(flags: tuple[str, ...], home: Path) -> None:
    done = run_asky("chat", *flags, home=home)
    assert done.returncode == 2
    assert "do not go together" in done.stderr


def test_nothing_to_continue_is_said_at_once(home: Path) -> None:
    done = run_asky("chat", "-c", home=home)
    assert done.returncode == 2
    assert "no session to continue" in done.stderr


def test_a_closed_stdin_ends_it_with_0(home: Path) -> None:
    done = run_asky("chat", home=home)
    assert (done.returncode, done.stdout) == (0, "")


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
    ledger = json.loads(run_asky("runs", "show", "--json", home=home).stdout)["ledger"]
    assert [each["data"]["queries"] for each in ledger if each["kind"] == "shortlisted"] == [["moon and sea"]]


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


def test_a_note_to_an_answer_that_was_stopped_waits_in_the_prompt(home: Path) -> None:
    with (
        Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True)), "Two.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("First?")
        chatting.see("asking priced")
        chatting.type("be brief" + ENTER + "and kind")
        chatting.see("[1 note for the model] and kind")
        chatting.interrupt()
        chatting.see("stopped")
        chatting.see(". and kind")
        assert "> be brief" in chatting.text()
        assert endpoint.played == 1


def test_a_turn_that_was_stopped_and_continued_by_the_shell_goes_on_and_leaves_its_terminal_in_order(
    home: Path,
) -> None:
    held = Answer("First.", wire=Wire(silent_before_headers=True))
    with Endpoint(held, "Second.") as endpoint:
        environ = environ_of(endpoint)
        with Chatting("-m", "priced", home=home, environ=environ, in_shell=True) as chatting:
            chatting.prompt()
            chatting.ask("Who?")
            chatting.see("asking priced")
            chatting.type(CTRL_Z)
            chatting.see("Stopped")
            chatting.shell("bg; stty -ixon; echo mark$((40+2))")
            chatting.see("mark42")  # the shell gets what is typed, although the turn goes on
            chatting.type("fg" + ENTER)
            chatting.see_that(lambda: not chatting.echoes(), "the terminal without an echo")
            chatting.type("And why?")
            chatting.see("> And why?")
            chatting.type(ENTER)
            chatting.see("[1 note for the model]")
            endpoint.release()
            chatting.see("Second.")
            chatting.prompt()
            chatting.type(CTRL_D)
            chatting.shell("stty -a; echo mark$((50+3))")
            chatting.see("mark53")
            modes = chatting.text().rpartition("speed")[2].split()
        assert {"echo", "icanon", "isig", "-noflsh", "-ixon"} <= set(modes)
        assert asked(endpoint.requests[1]) == ["Who?", "And why?"]


def test_what_is_typed_just_before_ctrl_c_waits_in_the_prompt(home: Path) -> None:
    with (
        Endpoint(Answer("Never.", wire=Wire(silent_before_headers=True))) as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask("First?")
        chatting.see("asking priced")
        chatting.type("and the sun?" + CTRL_C)  # in one piece: the signal comes before anything has read the text
        chatting.see("stopped")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> and the sun?", "the draft")


def test_documents_that_are_named_again_are_said_to_be_there(home: Path, docs: Path) -> None:
    empty = home / "empty"
    empty.mkdir()
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint), columns=200) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "/web", "no search service is set up, so only pages that a question names are read")
        assert "documents" not in chatting.text()
        answer_to(chatting, f"/docs {docs}", "3 of 3 files searchable")
        answer_to(chatting, f"/docs {docs}", f"{docs}: 3 documents, nothing new")
        answer_to(chatting, f"/docs {docs / 'bread.txt'}", "1 of 1 files searchable")
        answer_to(chatting, f"/docs {docs / 'bread.txt'}", "bread.txt: 1 document, nothing new")
        (docs / "tool.exe").write_bytes(b"MZ" + bytes(64))
        answer_to(chatting, f"/docs {docs}", f"{docs}: 3 of 4 files, nothing new")
        answer_to(chatting, f"/docs {empty}", f"{empty}: no documents were found in it")
        answer_to(chatting, "/web on", "the web is on now, and the documents are used beside it")
        answer_to(chatting, "/web off", "the web is off now: the documents alone are used")


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
        chatting.see("`mkdir -p 'no such'` makes it")
        answer_to(chatting, "/export none/all.md", "there is no folder none")
        answer_to(chatting, "/save", "/save needs a file")
    assert (spaced / "a.md").read_text() == (spaced / "b.md").read_text()


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


def test_the_default_mode_is_asked_for_in_a_session_that_had_another(home: Path) -> None:
    with Endpoint("One.", "Two.", "Three.") as endpoint:
        environ = environ_of(endpoint)
        for flags, mode in ((("-s", "x", "-L"), "lean"), (("-c",), "lean"), (("-c", "--standard"), "standard")):
            done = run_asky(*flags, "-m", "priced", "--json", "Well?", home=home, environ=environ)
            assert (done.returncode, json.loads(done.stdout)["mode"]) == (0, mode), done.stderr


def test_ctrl_c_while_the_history_is_searched_ends_the_search_alone(home: Path) -> None:
    with (
        Endpoint("One.", "Two.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        answer_to(chatting, "First?", "One.")
        chatting.type("\x12Fir")
        chatting.see("I-search backward: Fir")
        chatting.type(CTRL_C)
        chatting.prompt()
        chatting.type("\x12Fir")
        chatting.see_that(lambda: chatting.text().rstrip().splitlines()[-2] == "I-search backward: Fir", "the search")
        chatting.type(ENTER)
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> First?", "what was found")
        chatting.type(" Again?")
        chatting.see("Again?")
        chatting.type(ENTER)
        chatting.see("Two.")
        chatting.prompt()
        assert len(endpoint.requests) == 2


def test_a_text_that_was_edited_is_in_the_prompt_and_not_asked_yet(home: Path) -> None:
    editor = home / "editor"
    editor.write_text('#!/bin/sh\nprintf "Edited?" > "$1"\n')
    editor.chmod(0o700)
    with (
        Endpoint("One.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint, EDITOR=str(editor))) as chatting,
    ):
        chatting.prompt()
        chatting.type("draft\x18\x05")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> Edited?", "the edited text")
        assert endpoint.requests == []
        chatting.type(ENTER)
        chatting.see("One.")


def test_what_is_typed_while_documents_are_read_is_there_afterwards(home: Path, docs: Path) -> None:
    with (
        Endpoint("Yes.") as endpoint,
        Chatting("-m", "priced", home=home, environ=environ_of(endpoint)) as chatting,
    ):
        chatting.prompt()
        chatting.ask(f"/docs {docs}")
        chatting.see("read  ")
        chatting.type("half a")
        chatting.see("files searchable")
        chatting.see_that(lambda: chatting.rows()[chatting.cursor_row()] == "> half a", "the draft")
        chatting.type(" question?")
        chatting.see("half a question?")
        chatting.type(ENTER)
        chatting.see("Yes.")
        assert asked(endpoint.requests[0])[0].endswith("Question: half a question?")


def test_a_question_in_a_file_is_read_where_it_is_typed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("Why is\nit so?\n")
    with Endpoint("Yes.", "No.") as endpoint:
        with Chatting("-m", "priced", home=home, environ=environ_of(endpoint), columns=160) as chatting:
            chatting.prompt()
            answer_to(chatting, f"file://{tmp_path}/nosuch.txt", "nosuch.txt: No such file or directory")
            answer_to(chatting, f"file://{tmp_path}/asked.txt", "Yes.")
            answer_to(chatting, f"/edit file://{tmp_path}/asked.txt", "No.")
        assert [asked(each) for each in endpoint.requests] == [["Why is\nit so?"], ["Why is\nit so?"]]


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
        chatting.see("/session is a command, and no question: nothing was asked")
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
        chatting.see("dropped: nothing was asked")
        chatting.prompt()
        assert endpoint.requests == []
        assert chatting.status().endswith("| new session")


def test_a_chat_stays_in_its_session_when_another_process_renames_or_removes_it(home: Path) -> None:
    with Endpoint("One.", "Other.", "Two.", "Three.", "Four.") as endpoint:
        environ = environ_of(endpoint)

        def elsewhere(*arguments: str) -> None:
            done = run_asky(*arguments, home=home, environ=environ)
            assert done.returncode == 0, done.stderr

        with Chatting("-m", "priced", "-s", "live", home=home, environ=environ) as chatting:
            chatting.prompt()
            answer_to(chatting, "First?", "One.")
            elsewhere("session", "rename", "live", "moved")
            elsewhere("-m", "priced", "-s", "live", "Of another?")
            answer_to(chatting, "Second?", "Two.")
            assert "the session live is called moved now" in chatting.text()
            assert chatting.status().endswith("| moved")
            elsewhere("session", "rm", "moved")
            answer_to(chatting, "Third?", "Three.")
            assert "the session moved was removed meanwhile: a new one of that name begins" in chatting.text()
            elsewhere("session", "rm", "moved")
            elsewhere("session", "rename", "live", "moved")
            answer_to(chatting, "Fourth?", "another one has its name")
            answer_to(chatting, "Fourth, again?", "Four.")
            assert not chatting.status().endswith("| moved")
        assert [asked(each) for each in endpoint.requests] == [
            ["First?"], ["Of another?"], ["First?", "Second?"], ["Third?"], ["Fourth, again?"],
        ]  # fmt: skip


def test_a_question_that_is_refused_makes_no_session_in_a_chat(home: Path) -> None:
    done = run_asky("chat", "-L", "--no-web", home=home, stdin="What?\n/session\n")
    assert "there is nothing to answer from" in done.stderr
    assert "a new session" in done.stderr
    assert "no sessions yet" in run_asky("session", "list", home=home).stderr


@pytest.mark.parametrize(("flags", "told"), [(("-d", "nope"), "nope"), (("--collection", "nope"), "'nope'")])
def test_documents_that_are_not_there_end_it_before_it_begins(flags: tuple[str, ...], told: str, home: Path) -> None:
    done, asked_once = run_asky("chat", *flags, home=home), run_asky(*flags, "What?", home=home)
    assert (done.returncode, asked_once.returncode) == (2, 2)
    assert told in done.stderr
    assert asked_once.stderr.endswith(done.stderr)
    assert "no sessions yet" in run_asky("session", "list", home=home).stderr
