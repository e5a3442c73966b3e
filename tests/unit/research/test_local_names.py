from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import SourceRefused
from asky.research.local.names import (
    is_local_target,
    parse_target,
    secret_rule,
    show_name,
    show_target,
    uri_path,
)


@pytest.mark.parametrize(
    ("target", "parts", "absolute"),
    [
        ("docs/a.md", ("docs", "a.md"), False),
        ("./docs//./a.md", ("docs", "a.md"), False),
        ("/srv/docs/a.md", ("srv", "docs", "a.md"), True),
        ("local://docs/a.md", ("docs", "a.md"), False),
        ("LOCAL://docs/a.md", ("docs", "a.md"), False),
        ("local://", (), False),
        ("local:///srv/a.md", ("srv", "a.md"), True),
        ("local://my%20notes/100%25.md", ("my notes", "100%.md"), False),
        ("local://caf%E9.md", ("caf\udce9.md",), False),
        ("my notes/100%.md", ("my notes", "100%.md"), False),
        ("100%25.md", ("100%25.md",), False),
        ("file:///srv/a%20b.md", ("srv", "a b.md"), True),
        ("file:/srv/a.md", ("srv", "a.md"), True),
        ("notes: draft.md", ("notes: draft.md",), False),
        ("docs/~draft.md", ("docs", "~draft.md"), False),
        ("docs/a..b/...md", ("docs", "a..b", "...md"), False),
    ],
)
def test_a_target_is_read_as_path_components(target: str, parts: tuple[str, ...], absolute: bool) -> None:
    wanted = parse_target(target)
    assert (wanted.parts, wanted.absolute) == (parts, absolute)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///srv/a%20b.md", "/srv/a b.md"),
        ("FILE:/srv/100%2525.md", "/srv/100%25.md"),
        ("file://my%20prompt.txt", "my prompt.txt"),
        ("local://caf%E9.md", "caf\udce9.md"),
        ("file:///srv/100%.md", "/srv/100%.md"),
        ("file:a.md", None),
        ("local:a.md", None),
        ("a%20b.md", None),
        ("https://e.com/a%20b", None),
    ],
)
def test_the_path_of_a_uri_is_percent_decoded_once(uri: str, path: str | None) -> None:
    assert uri_path(uri) == path


def test_a_web_address_is_not_a_local_file() -> None:
    with pytest.raises(SourceRefused, match="not a local file"):
        parse_target("https://example.com/a.md")


@given(st.text(max_size=60))
def test_no_target_yields_a_component_that_leads_up_or_hides_a_separator(text: str) -> None:
    for target in (text, f"local://{text}", f"file:///{text}", f"docs/{text}"):
        try:
            parts = parse_target(target).parts
        except SourceRefused:
            continue
        assert ".." not in parts
        assert not any(set(part) & set("/\\\0") for part in parts)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (".env", ".env*"),
        ("prod.env", "*.env"),
        (".env.local", ".env*"),
        (".ENV", ".env*"),
        (".envrc/notes.md", ".env*"),
        ("config/server.pem", "*.pem"),
        ("config/Server.KEY", "*.key"),
        ("data/app.db", "*.db"),
        ("data/app.sqlite3", "*.sqlite*"),
        ("data/app.sqlite-wal", "*.sqlite*"),
        ("id_rsa", "id_*"),
        ("keys/id_ed25519.pub", "id_*"),
        ("id_rsa.txt", "id_*"),
        ("id_mapping", "id_*"),
        (".git/config", ".git/"),
        ("sub/.git/HEAD", ".git/"),
        (".ssh/known_hosts.txt", ".ssh/"),
        (".obsidian/app.json", ".obsidian/"),
    ],
)
def test_secrets_are_known_by_their_names(path: str, rule: str) -> None:
    assert secret_rule(path.split("/")) == rule


@pytest.mark.parametrize(
    "path",
    ["id_card_rules.md", "id_rsa_explained.md", "environment.md", "keys.md", "a.key.md", "db/notes.txt", ".gitx/a"],
)
def test_documents_are_not_taken_for_secrets(path: str) -> None:
    assert secret_rule(path.split("/")) is None


def test_a_folder_is_not_judged_by_the_rules_for_files() -> None:
    assert secret_rule(["id_cards"], folder=True) is None
    assert secret_rule(["id_cards"]) == "id_*"
    assert secret_rule([".ssh"], folder=True) == ".ssh/"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a b é.md", "a b é.md"),
        ("a\nb\x1b[31m.md", "a\\nb\\x1b[31m.md"),
        ("caf\udce9.md", "caf\\xe9.md"),
        ("evil\u202ecod.md", "evil\\u202ecod.md"),
    ],
)
def test_names_are_shown_on_one_line_without_controls(name: str, shown: str) -> None:
    assert show_name(name) == shown


@given(st.text(alphabet=st.characters(), max_size=400))
def test_what_is_shown_is_always_printable(name: str) -> None:
    assert show_name(name).isprintable()
    assert len(show_target(name)) <= 200


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("wiki://me:hunter2@host/page", "wiki://***@host/page"),
        ("https://host/a?x=1&access_token=abc&y=2", "https://host/a?x=1&access_token=***&y=2"),
        ("https://host/a?X-Amz-Signature=abc#session=1", "https://host/a?X-Amz-Signature=***#session=***"),
        ("docs/keys.md", "docs/keys.md"),
    ],
)
def test_passwords_and_tokens_are_masked(target: str, shown: str) -> None:
    assert show_target(target) == shown


@pytest.mark.parametrize(
    "text",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "fi\nle:///etc/passwd",
        "file:/etc/passwd",
        "file:etc/passwd",
        "local://a.md",
        "/etc/passwd",
        "//host/share",
        "~/notes.md",
        "~root/notes.md",
        "./a.md",
        "../a.md",
        "docs/a.md",
        "a.md",
        "C:\\Users\\me\\a.md",
        "C:/Users/me/a.md",
        "c:a.md",
        "\\\\server\\share\\a.md",
        "%66ile:///etc/passwd",
        "",
    ],
)
def test_what_names_something_on_this_machine_is_local(text: str) -> None:
    assert is_local_target(text)


@pytest.mark.parametrize("text", ["https://example.com/a", "HTTP://example.com", "wiki://page", "doi:10.1000/182"])
def test_addresses_with_another_scheme_are_not_local(text: str) -> None:
    assert not is_local_target(text)
