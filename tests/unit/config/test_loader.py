from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asky.config.loader import Config, check_config, find_key_variables, find_project_file, load_config
from asky.errors import ConfigError
from tests.support.examples import examples

Files = Callable[..., Path]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "asky" / "config").mkdir(parents=True)
    (tmp_path / "project" / "sub").mkdir(parents=True)
    return tmp_path


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return {"HOME": str(home), "ASKY_HOME": str(home / "asky"), **(extra or {})}


def load(home: Path, extra: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None) -> Config:
    return load_config(environ=environment(home, extra), cwd=home / "project" / "sub", flags=flags)


def write_user(home: Path, text: str, name: str = "research.toml") -> Path:
    file = home / "asky" / "config" / name
    file.write_text(text, encoding="utf-8")
    return file


def write_project(home: Path, text: str) -> Path:
    file = home / "project" / ".asky.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_without_any_file_every_value_is_the_packaged_one(home: Path) -> None:
    config = load(home)
    assert config.research.max_turns == 8
    assert config.origins["research.max_turns"].layer == "packaged"
    assert config.default == "extractive"
    assert config.models["extractive"].provider == "extractive"


def test_each_layer_overrides_the_one_before_and_leaves_the_rest(home: Path) -> None:
    steps: list[tuple[str, Callable[[], Config]]] = []
    write_user(home, "[research.retrieval]\ncandidates = 11\nembed_at_once = 3\n")
    steps.append(("user", lambda: load(home)))
    write_project(home, "[research.retrieval]\ncandidates = 12\n")
    steps.append(("project", lambda: load(home)))
    environ = {"ASKY_RESEARCH__RETRIEVAL__CANDIDATES": "13"}
    steps.append(("environment", lambda: load(home, environ)))
    steps.append(("flag", lambda: load(home, environ, {"research.retrieval.candidates": 14})))
    for expected, (layer, make) in zip((12, 12, 13, 14), steps, strict=True):
        config = make()
        assert config.research.retrieval.candidates == expected
        assert config.origins["research.retrieval.candidates"].layer == ("project" if layer == "user" else layer)
        assert config.research.retrieval.embed_at_once == 3
        assert config.origins["research.retrieval.embed_at_once"].layer == "user"


def test_the_users_file_is_read_where_no_project_file_is(home: Path) -> None:
    file = write_user(home, "# mine\n\n[research]\nmax_turns = 11\n")
    origin = load(home).origins["research.max_turns"]
    assert (origin.layer, origin.source, origin.line) == ("user", str(file), 4)


def test_a_list_is_replaced_whole(home: Path) -> None:
    write_user(home, f'[research]\nlocal_document_roots = ["{home}/a", "~/b"]\n')
    assert load(home).research.local_document_roots == (home / "a", home / "b")
    config = load(home, {"ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS": '["c"]'})
    assert config.research.local_document_roots == (home / "project" / "sub" / "c",)


@pytest.mark.parametrize("written", ['["/a", "/b"]', "['/a', '/b']", '["/a","/b",]'])
def test_a_variable_holds_a_list_as_json_or_toml(home: Path, written: str) -> None:
    config = load(home, {"ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS": written})
    assert config.research.local_document_roots == (Path("/a"), Path("/b"))


def test_a_path_is_absolute_or_relative_to_the_folder_of_the_variable(home: Path) -> None:
    assert load(home).notes.vault is None
    write_user(home, "[notes]\nvault = '~/vault'\n")
    assert load(home).notes.vault == home / "vault"
    assert load(home, {"ASKY_NOTES__VAULT": "here"}).notes.vault == home / "project" / "sub" / "here"


def test_the_model_of_notes_has_a_variable_of_its_own(home: Path) -> None:
    write_user(home, "[notes]\nmodel = 'mine'\n")
    assert load(home, {"RESEARCH_MODEL": " "}).notes.model == "mine"
    config = load(home, {"RESEARCH_MODEL": "theirs"})
    assert config.notes.model == "theirs"
    assert str(config.origins["notes.model"]) == "environment RESEARCH_MODEL"
    assert load(home, {"RESEARCH_MODEL": "theirs", "ASKY_NOTES__MODEL": "last"}).notes.model == "last"


def test_variables_are_read_by_the_type_of_their_key(home: Path) -> None:
    config = load(
        home,
        {
            "ASKY_RESEARCH__READING__TIMEOUT_S": "5",
            "ASKY_RESEARCH__EMBEDDING__LOCAL_FILES_ONLY": "yes",
            "ASKY_RESEARCH__EMBEDDING__MODEL": "8",
            "ASKY_UI__COLOR": "never",
            "ASKY_UI__PROGRESS": "0",
            "ASKY_RESEARCH__RETRIEVAL__EXACT_MAX_CHUNKS": "10_000",
        },
    )
    assert config.research.reading.timeout_s == 5.0
    assert config.research.embedding.local_files_only is True
    assert config.research.embedding.model == "8"
    assert config.ui.color == "never"
    assert config.ui.progress is False
    assert config.research.retrieval.exact_max_chunks == 10_000
    assert config.origins["ui.color"].source == "ASKY_UI__COLOR"


def test_an_empty_variable_counts_as_unset(home: Path) -> None:
    assert load(home, {"ASKY_RESEARCH__MAX_TURNS": "", "ASKY_MODEL": ""}).research.max_turns == 8


def test_asky_model_names_the_default_model(home: Path) -> None:
    write_user(home, '[models.mine]\nprovider = "extractive"\n', "models.toml")
    config = load(home, {"ASKY_MODEL": "mine"})
    assert config.model().name == "mine"
    assert config.model("extractive").name == "extractive"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[research]\nmax_turn = 3\n", ":2: unknown key research.max_turn", "did you mean research.max_turns?"),
        ("[reserch]\nmax_turns = 3\n", ":1: unknown key reserch", "did you mean research?"),
        ("max_turns = 3\n", ":1: unknown key max_turns", "did you mean research.max_turns?"),
        ('default = "x"\n', ":1: unknown key default", "default belongs in models.toml"),
        ("[research.chunking]\nqqq = 3\n", ":2: unknown key research.chunking.qqq", "max_tokens, overlap_tokens"),
        ("[research.source_adapters.w]\ntol = ['x']\n", ":2: unknown key research.source_adapters.w.tol", "w.tool?"),
        (
            "[research]\nmax_turns = '3'\n",
            ":2: research.max_turns: expected a whole number from 1 to 200, got text",
            "",
        ),
        ("[research]\nmax_turns = 3.0\n", "expected a whole number from 1 to 200, got a number", ""),
        ("[research]\nmax_turns = true\n", "expected a whole number from 1 to 200, got true or false", ""),
        ("[research]\nmax_turns = 0\n", "expected a whole number from 1 to 200, got a number outside that range", ""),
        ("[research.retrieval]\ndense_weight = nan\n", "expected a number from 0 to 1, got a number outside", ""),
        ("research = 3\n", ":1: research: expected a table, got a value", ""),
        ("[research]\nchunking = 1979-05-27\n", ":2: research.chunking: expected a table, got a value", ""),
        ("[research.chunking]\nmax_tokens = 1979-05-27\n", "got a date or time", ""),
        ("[research.chunking]\nmax_tokens = {}\n", "got a table", ""),
        ('[ui]\ncolor = "allways"\n', ":2: ui.color: expected one of auto, always, never", "did you mean always?"),
        ('[research.embedding]\nmodel = " "\n', "expected text, got empty text", ""),
        ('[research.embedding]\nmodel = "a\\u0000b"\n', "got text with control characters", ""),
        ("[research]\nlocal_document_roots = '/a'\n", "expected a list of paths, got text", 'write it as ["..."]'),
        ("[research]\nlocal_document_roots = [1]\n", "got a list with a whole number in it", ""),
        ("[notes]\nvault = 'notes'\n", "expected an absolute path, or one that starts with ~/", ""),
        ("[notes]\nvault = ['/notes']\n", "expected a path, got a list", ""),
        ("[notes]\nvault = ' '\n", "expected a path, got empty text", ""),
        ("[research]\nlocal_document_roots = ['docs']\n", "expected an absolute path, or one that starts with ~/", ""),
        ('[search]\nproviders = ["searxng", "searxgn"]\n', ":2: search.providers: one of these", ""),
        ('[search]\nproviders = ["SearXNG"]\n', "is not a search service; did you mean searxng?", ""),
        ('[search]\nproviders = ["zzzz"]\n', "is not a search service; they are searxng, brave, tavily", ""),
        ('[search.searxng]\nbase_url = "localhost:8888"\n', ":2: search.searxng.base_url: must be a web", ""),
        ('[search.brave]\nbase_url = "https://a:b@c/"\n', "search.brave.base_url: must not contain a user name", ""),
        (
            '[research.sources]\nkinds = ["paper", "papers"]\n',
            ":2: research.sources.kinds: expected a list of web or paper, got a list with other text in it",
            "did you mean paper?",
        ),
        ("[research.sources]\nkinds = 3\n", "expected a list of web or paper, got a whole number", ""),
        (
            "[research.chunking]\nmax_tokens=20\noverlap_tokens=20\n",
            ":3: research.chunking.overlap_tokens: must be",
            "",
        ),
    ],
)
def test_a_mistake_is_named_with_its_file_line_key_and_a_way_out(
    home: Path, text: str, message: str, hint: str
) -> None:
    file = write_user(home, text)
    with pytest.raises(ConfigError) as caught:
        load(home)
    assert str(caught.value).startswith(f"{file}:")
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('prefix = "w://"', "give either tool"),
        ('prefix = "w://"\ntool = "a"\nread_tool = "b"', "give either tool"),
        ('prefix = "w://"\nread_tool = "b"', "give either tool"),
        ('tool = "a"', "research.source_adapters.w.prefix is missing"),
        ('prefix = "w"\ntool = "a"', "must name a scheme"),
        ('prefix = "https://x/"\ntool = "a"', "web addresses cannot be given to an adapter"),
        ('prefix = "w://"\ntool = "a b"', "expected a list of text, got text"),
        ("", "research.source_adapters.w: the table is empty"),
    ],
)
def test_an_adapter_that_could_not_work_is_refused(home: Path, table: str, problem: str) -> None:
    file = write_user(home, f"[research.source_adapters.w]\n{table}\n")
    with pytest.raises(ConfigError) as caught:
        load(home)
    assert str(file) in str(caught.value)
    assert problem in str(caught.value)


def test_an_adapter_names_a_tool_that_takes_the_target_alone(home: Path) -> None:
    tool = '[tools.read_wiki]\ndescription = "d"\ncommand = ["wiki"]\n'
    adapter = '[research.source_adapters.w]\nprefix = "w://"\ntool = "read_wiki"\n'
    write_user(
        home, f'{tool}parameters = {{properties = {{page = {{type = "string"}}}}, required = ["page"]}}\n{adapter}'
    )
    assert load(home).research.source_adapters["w"].tool == ("read_wiki",)
    write_user(home, tool + adapter)
    with pytest.raises(ConfigError, match=r"w\.tool: tools\.read_wiki must require one parameter, of type string"):
        load(home)


def test_an_adapter_is_a_program_alone_or_with_its_arguments(home: Path) -> None:
    write_user(
        home,
        '[research.source_adapters.local]\nprefix = "local://"\ntool = "read_local"\n'
        '[research.source_adapters.wiki]\nprefix = "wiki://"\n'
        'discover_tool = ["wiki", "ls"]\nread_tool = ["wiki", "cat"]\n',
    )
    adapters = load(home).research.source_adapters
    assert adapters["local"].tool == ("read_local",)
    assert (adapters["wiki"].discover_tool, adapters["wiki"].read_tool) == (("wiki", "ls"), ("wiki", "cat"))


@pytest.mark.parametrize(
    "text",
    [
        '[research.source_adapters.w]\nprefix = "w://"\ntool = ["rm"]\n',
        'research.source_adapters = {w = {prefix = "w://", tool = "x"}}\n',
        '[research]\nlocal_document_roots = ["/"]\n',
        '[research.embedding]\nmodel = "./weights"\n',
        "[research.reading]\nmemory_mb = 100000\n",
        '[models.m]\nprovider = "extractive"\n',
        'default = "m"\n',
        '[providers.openai]\nbase_url = "http://collector.example/v1"\n',
        "[providers.openai.timeouts]\ntotal_s = 1\n",
        "[budget]\nmax_cost_usd = 1000.0\n",
        "[budget]\nmax_tokens_per_day = 0\n",
        "[research]\nmax_turns = 200\n",
        "[research]\npassage_tokens = 1000000\n",
        "[research]\nmax_passages = 1000\n",
    ],
)
def test_a_project_file_cannot_run_programs_widen_access_pick_models_or_spend_money(home: Path, text: str) -> None:
    file = write_project(home, text)
    with pytest.raises(ConfigError, match=r"a project file may not set \S+") as caught:
        load(home)
    assert str(caught.value).startswith(f"{file}:")
    assert str(home / "asky" / "config") in (caught.value.hint or "")


def test_the_nearest_project_file_is_taken_and_the_search_ends_at_the_home_folder(home: Path) -> None:
    cwd = home / "project" / "sub"
    assert find_project_file(environ=environment(home), cwd=cwd) is None
    far = write_project(home, "")
    assert find_project_file(environ=environment(home), cwd=cwd) == far
    (cwd / ".asky.toml").mkdir()
    assert find_project_file(environ=environment(home), cwd=cwd) == far
    (home / ".asky.toml").touch()
    assert find_project_file(environ={"HOME": str(home / "project")}, cwd=cwd) == far
    far.unlink()
    assert find_project_file(environ={"HOME": str(home / "project")}, cwd=cwd) is None
    assert find_project_file(environ={"HOME": str(home)}, cwd=cwd) == home / ".asky.toml"


LAB = '[providers.lab]\nbase_url = "http://localhost:1/v1"\napi_key_env = "LAB"\n'


@pytest.mark.parametrize("rest", ["", "nonsense = 1\n"])
def test_the_variables_of_keys_are_known_even_where_the_configuration_is_not_valid(home: Path, rest: str) -> None:
    write_user(home, rest + LAB, "models.toml")
    found = find_key_variables(environ=environment(home), cwd=home)
    assert {"LAB", "OPENAI_API_KEY"} <= found


def test_files_named_asky_toml_or_env_in_the_folder_are_not_read(home: Path) -> None:
    for name in ("asky.toml", ".env", "research.toml", "models.toml"):
        (home / "project" / "sub" / name).write_text("[research]\nmax_turns = 99\n")
    assert load(home).research.max_turns == 8


@pytest.mark.parametrize(
    ("variable", "value", "message", "hint"),
    [
        ("ASKY_RESEARCH__MAX_TURN", "3", "no such variable", "ASKY_RESEARCH__MAX_TURNS"),
        ("ASKY_RESEARCH_MAX_TURNS", "3", "no such variable", "ASKY_RESEARCH__MAX_TURNS"),
        ("ASKY_HOMES", "3", "no such variable", "ASKY_HOME"),
        ("ASKY_XYZZY", "3", "no such variable", "asky config show"),
        ("ASKY_RESEARCH__EMBEDDING", "3", "names a table, not a key", "ASKY_RESEARCH__EMBEDDING__"),
        ("ASKY_RESEARCH__MAX_TURNS", "many", "research.max_turns: expected a whole number", ""),
        ("ASKY_RESEARCH__MAX_TURNS", "9" * 5000, "research.max_turns: expected a whole number", ""),
        ("ASKY_RESEARCH__READING__TIMEOUT_S", "inf", "expected a number from 0.1 to 3_600", ""),
        ("ASKY_UI__PROGRESS", "maybe", "expected true or false, got text", ""),
        ("ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS", "/a", "expected a list of paths, got text", ""),
        ("ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS", "[" * 100_000, "expected a list of paths, got text", ""),
        ("ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS", '{"a": 1}', "got a table", ""),
        ("ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS", '["/a"]\nother = 1', "got text", ""),
    ],
)
def test_a_wrong_variable_is_refused(home: Path, variable: str, value: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(home, {variable: value})
    assert str(caught.value).startswith(f"{variable}: ")
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_a_flag_is_checked_like_a_file(home: Path) -> None:
    with pytest.raises(ConfigError, match=r"command line: research\.max_turns: expected a whole number"):
        load(home, flags={"research.max_turns": 0})
    with pytest.raises(LookupError):
        load(home, flags={"research.max_turn": 1})


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"[research]\nmax_turns = \n", ":2:13", "invalid value"),
        (b"[research]\nsk-live-4242424242\n", ":2:19", "expected '=' after a key"),
        (b"[research\n", ":1:10", "expected ']'"),
        (b"a = [1, 2", "", "at the end of the file"),
        (b"a = 1\na = 2\n", ":2:6", "cannot overwrite a value"),
        (b"a = " + b"9" * 5000 + b"\n", "", "a number that is too long"),
        (b"# ok\nname = 'caf\xe9'\n", ":2", "not UTF-8 text"),
        (b"a = " + b"[" * 100_000, "", "nested too deeply"),
        (b"#" * 300_000, "", "too large for a configuration file"),
    ],
)
def test_what_is_not_toml_is_named_by_place_and_not_by_content(
    home: Path, content: bytes, place: str, reason: str
) -> None:
    file = write_user(home, "")
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(home)
    assert str(caught.value).startswith(f"{file}{place}: ")
    assert reason in str(caught.value)
    assert "4242" not in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 200


def test_a_folder_in_place_of_a_file_and_a_missing_permission_are_reported(home: Path) -> None:
    (home / "asky" / "config" / "models.toml").mkdir()
    with pytest.raises(ConfigError, match=r"models\.toml: not a regular file"):
        load(home)


def test_a_byte_order_mark_is_no_mistake(home: Path) -> None:
    write_user(home, "").write_bytes(b"\xef\xbb\xbf[research]\r\nmax_turns = 5\r\n")
    config = load(home)
    assert config.research.max_turns == 5
    assert config.origins["research.max_turns"].line == 2


def test_every_mistake_of_every_layer_is_listed_by_a_check(home: Path) -> None:
    write_user(home, "[research]\nmax_turn = 3\nmax_passages = 'x'\n")
    write_user(home, "[models\n", "models.toml")
    write_project(home, "[ui]\ncolour = 'x'\n")
    problems = check_config(environ=environment(home, {"ASKY_UI__COLOR": "x"}), cwd=home / "project")
    assert [str(p).rpartition("/")[2].partition(": ")[2][:30] for p in problems] == [
        "unknown key research.max_turn",
        "research.max_passages: expected"[:30],
        "not valid TOML: expected ']' at"[:30],
        "unknown key ui.colour",
        "ui.color: expected one of auto"[:30],
    ]
    assert check_config(environ=environment(home.parent / "nowhere"), cwd=home.parent) == []


def test_a_check_finds_a_default_model_that_does_not_exist(home: Path) -> None:
    write_user(home, 'default = "gone"\n', "models.toml")
    assert "no model called 'gone'" in str(check_config(environ=environment(home), cwd=home)[0])


def test_a_key_as_long_as_its_file_makes_no_long_message(home: Path) -> None:
    write_user(home, f"{'k' * 50_000} = 1\n")
    with pytest.raises(ConfigError) as caught:
        load(home)
    assert len(str(caught.value)) < 400


CANARY = "sk-canary-0123456789"


@settings(max_examples=examples(300), deadline=None)
@given(
    key=st.sampled_from(["research.embedding.model", "ui.color", "research.max_turns", "api_key", "research", "[x]"]),
    before=st.text(st.characters(codec="utf-8"), max_size=6),
    quote=st.sampled_from(["", '"', "'", '"""', "[", '["']),
    after=st.text(st.characters(codec="utf-8"), max_size=6),
)
def test_no_error_ever_repeats_a_value(
    tmp_path_factory: pytest.TempPathFactory, key: str, before: str, quote: str, after: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "asky" / "config").mkdir(parents=True)
    file = home / "asky" / "config" / "research.toml"
    file.write_text(f"{key} = {before}{quote}{CANARY}{after}\n", encoding="utf-8", newline="")
    problems = check_config(environ=environment(home), cwd=home)
    assert CANARY not in json.dumps([(str(p), p.hint) for p in problems])
