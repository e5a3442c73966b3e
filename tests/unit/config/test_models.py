"""Providers and models: which model a name means, what applies to it, and which tables are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from asky.config.documents import parse_toml
from asky.config.endpoints import base_url_fault
from asky.config.listing import list_values
from asky.config.loader import Config, check_config, load_config
from asky.config.models import choose_model, is_model_id, read_api_key
from asky.config.packaged import packaged_text
from asky.config.schema import Model, Provider, Settings
from asky.errors import AskyError, ConfigError, NotConfigured

CANARY = "sk-canary-0123456789abcdef"
PROVIDERS = frozenset(parse_toml(packaged_text("models.toml"))["providers"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "asky" / "config").mkdir(parents=True)
    return tmp_path


def load(home: Path, models: str = "", extra: Mapping[str, str] | None = None) -> Config:
    (home / "asky" / "config" / "models.toml").write_text(models, encoding="utf-8")
    return load_config(environ={"HOME": str(home), "ASKY_HOME": str(home / "asky"), **(extra or {})}, cwd=home)


def refusal(home: Path, models: str, extra: Mapping[str, str] | None = None) -> AskyError:
    with pytest.raises(ConfigError) as caught:
        load(home, models, extra)
    return caught.value


# what is ready


def test_the_common_endpoints_are_ready_to_use(home: Path) -> None:
    providers = load(home).providers
    assert {name: provider.base_url for name, provider in providers.items()} == {
        "openai": "https://api.openai.com/v1",
        "openrouter": "https://openrouter.ai/api/v1",
        "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
        "anthropic": "https://api.anthropic.com/v1",
        "fireworks": "https://api.fireworks.ai/inference/v1",
        "ollama": "http://localhost:11434/v1",
        "lmstudio": "http://localhost:1234/v1",
        "llamacpp": "http://localhost:8080/v1",
        "vllm": "http://localhost:8000/v1",
    }
    for name, provider in providers.items():
        assert (provider.api_key_env is None) == provider.base_url.startswith("http://localhost:"), name


def test_the_extractive_model_has_no_provider_and_no_key(home: Path) -> None:
    chosen = load(home).model("extractive")
    assert (chosen.provider, chosen.api_key_env, chosen.context_tokens, chosen.has_key({})) == (None, None, None, None)
    assert read_api_key(chosen, {}) is None


# what a name means


def test_an_alias_goes_before_a_provider_and_its_model(home: Path) -> None:
    config = load(home, '[models."ollama:qwen3:8b"]\nprovider = "vllm"\nid = "other"\n')
    assert config.model("ollama:qwen3:8b").model.id == "other"
    assert config.model("ollama:qwen3:4b").model == Model(provider="ollama", id="qwen3:4b")


@given(
    provider=st.sampled_from(sorted(PROVIDERS)),
    id_=st.text(st.sampled_from("abzAZ019:/._-@+~é語"), min_size=1, max_size=60),
)
def test_a_name_is_split_at_its_first_colon_and_the_id_is_kept(provider: str, id_: str) -> None:
    settings = Settings(providers={name: Provider(f"http://{name}/v1") for name in PROVIDERS})
    chosen = choose_model(settings, f"{provider}:{id_}")
    assert (chosen.model, chosen.provider) == (Model(provider, id_), settings.providers[provider])
    assert chosen.name == f"{provider}:{id_}"


@given(name=st.text(max_size=400))
def test_any_other_name_is_not_configured_in_one_short_line(name: str) -> None:
    settings = Settings(providers={"ollama": Provider("http://localhost/v1")})
    provider, _, id_ = name.partition(":")
    assume(name != "extractive" and not (provider == "ollama" and is_model_id(id_)))
    with pytest.raises(NotConfigured) as caught:
        choose_model(settings, name)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 4500
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("extractiv", "there is no model called 'extractiv'", "did you mean extractive?"),
        ("fsat", "there is no model called 'fsat'", "did you mean fast?"),
        ("mine", "there is no model called 'mine'", "known models: extractive, fast; or write PROVIDER:MODEL_ID"),
        ("mine", "there is no model called 'mine'", "with one of the providers anthropic, fireworks, gemini"),
        ("gpt-9", "there is no model called 'gpt-9'", "write it with a provider that has it: openai:gpt-9"),
        ("claude-9", "there is no model called 'claude-9'", "anthropic:claude-9"),
        ("meta/x", "there is no model called 'meta/x'", "openrouter:meta/x or fireworks:meta/x"),
        ("qwen3:8b", "no provider 'qwen3'", "a model of Ollama is ollama:qwen3:8b"),
        ("ollama", "there is no model called 'ollama'", "ollama is a provider: write ollama:MODEL_ID"),
        ("olama:qwen3:8b", "no provider 'olama'", "did you mean ollama:qwen3:8b?"),
        ("nobody:x", "no provider 'nobody'", "known providers: anthropic, fireworks, gemini"),
        ("extractive:x", "no provider 'extractive'", "write extractive alone"),
        ("ollama:", "'ollama:' names no model of ollama", "write ollama:MODEL_ID"),
        ("ollama:a b", "names no model of ollama", "write ollama:MODEL_ID"),
        ("", "there is no model called ''", "known models"),
    ],
)
def test_an_unknown_model_is_named_with_the_nearest_one(home: Path, name: str, message: str, hint: str) -> None:
    config = load(home, '[models.fast]\nprovider = "ollama"\nid = "x"\n')
    with pytest.raises(NotConfigured) as caught:
        choose_model(config, name)
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)


def test_who_asked_for_an_unknown_default_is_named(home: Path) -> None:
    with pytest.raises(NotConfigured, match="ASKY_MODEL: there is no model called 'gpt'"):
        load(home, extra={"ASKY_MODEL": "gpt"}).model()
    environ = {"HOME": str(home), "ASKY_HOME": str(home / "asky"), "ASKY_MODEL": "olama:x"}
    (problem,) = check_config(environ=environ, cwd=home)
    assert isinstance(problem, NotConfigured)


def test_two_aliases_of_one_model_id_reach_different_endpoints(home: Path) -> None:
    config = load(
        home,
        '[providers.far]\nbase_url = "https://far.example/v1"\napi_key_env = "FAR_KEY"\n'
        '[models.here]\nprovider = "ollama"\nid = "llama"\n[models.there]\nprovider = "far"\nid = "llama"\n',
    )
    here, there = config.model("here"), config.model("there")
    assert here.model.id == there.model.id == "llama"
    assert here.provider is not None
    assert there.provider is not None
    assert (here.provider.base_url, there.provider.base_url) == ("http://localhost:11434/v1", "https://far.example/v1")
    assert (read_api_key(here, {"FAR_KEY": "f"}), read_api_key(there, {"FAR_KEY": "f"})) == (None, "f")


# what applies to it


def test_what_a_model_leaves_open_its_provider_says(home: Path) -> None:
    config = load(
        home,
        '[providers.p]\nbase_url = "http://p/v1"\ncontext_tokens = 9000\ntools = false\ntext_tool_calls = true\n'
        "parameters = { top_p = 0.9, seed = 1 }\n"
        '[models.open]\nprovider = "p"\nid = "x"\n'
        '[models.own]\nprovider = "p"\nid = "x"\ncontext_tokens = 7000\ntools = true\ntext_tool_calls = false\n'
        "max_turns = 3\n[models.own.parameters]\nseed = 2\ntemperature = 0\n",
    )
    left, own = config.model("open"), config.model("own")
    assert (left.context_tokens, left.tools, left.text_tool_calls) == (9000, False, True)
    assert left.parameters == {"top_p": 0.9, "seed": 1}
    assert (own.context_tokens, own.tools, own.text_tool_calls) == (7000, True, False)
    assert own.parameters == {"top_p": 0.9, "seed": 2, "temperature": 0}


def test_the_command_line_has_the_last_word_on_turns_and_the_model_the_one_before(home: Path) -> None:
    models = '[models.few]\nprovider = "ollama"\nid = "x"\nmax_turns = 3\n[models.any]\nprovider = "ollama"\nid = "x"\n'
    config = load(home, models, {"ASKY_RESEARCH__MAX_TURNS": "5"})
    assert [config.max_turns(config.model(name)) for name in ("few", "any")] == [3, 5]
    environ = {"HOME": str(home), "ASKY_HOME": str(home / "asky")}
    flagged = load_config(environ=environ, cwd=home, flags={"research.max_turns": 9})
    assert [flagged.max_turns(flagged.model(name)) for name in ("few", "any")] == [9, 9]


def test_every_key_can_be_set_by_a_variable(home: Path) -> None:
    config = load(
        home,
        extra={
            "ASKY_PROVIDERS__LAB__BASE_URL": "http://lab.example:8000/v1",
            "ASKY_PROVIDERS__LAB__API_KEY_ENV": "LAB_KEY",
            "ASKY_PROVIDERS__LAB__TIMEOUTS__TOTAL_S": "30",
            "ASKY_MODELS__FAST__PROVIDER": "lab",
            "ASKY_MODELS__FAST__ID": "a/b:c",
            "ASKY_MODELS__FAST__INPUT_PRICE": "0.25",
            "ASKY_MODELS__FAST__OUTPUT_PRICE": "1",
            "ASKY_MODELS__FAST__PARAMETERS": '{"temperature": 0}',
            "ASKY_BUDGET__MAX_COST_USD": "0.5",
            "ASKY_MODEL": "fast",
        },
    )
    chosen = config.model()
    assert (chosen.model.input_price, chosen.model.output_price, config.budget.max_cost_usd) == (0.25, 1.0, 0.5)
    assert chosen.parameters == {"temperature": 0}
    assert chosen.provider is not None
    assert chosen.provider.timeouts.total_s == 30.0
    assert chosen.provider.timeouts.connect_s == 5.0


def test_openai_base_url_is_the_address_of_openai_until_a_variable_of_asky_says_otherwise(home: Path) -> None:
    mine = '[providers.openai]\nbase_url = "http://mine/v1"\n'
    there = {"OPENAI_BASE_URL": " http://there/v1\n"}
    assert load(home, mine).providers["openai"].base_url == "http://mine/v1"
    config = load(home, mine, there)
    assert config.providers["openai"].base_url == "http://there/v1"
    assert str(config.origins["providers.openai.base_url"]) == "environment OPENAI_BASE_URL"
    config = load(home, mine, {**there, "ASKY_PROVIDERS__OPENAI__BASE_URL": "http://last/v1"})
    assert config.providers["openai"].base_url == "http://last/v1"
    assert load(home, extra={"OPENAI_BASE_URL": " "}).providers["openai"].base_url == "https://api.openai.com/v1"


def test_an_openai_base_url_that_is_none_troubles_only_who_uses_it(home: Path) -> None:
    config = load(home, extra={"OPENAI_BASE_URL": f"https://me:{CANARY}@x/v1"})
    assert config.model().name == "extractive"
    with pytest.raises(ConfigError, match=r"^OPENAI_BASE_URL: not a valid address") as caught:
        config.model("openai:gpt")
    assert "without a user name, a password" in str(caught.value.hint)
    assert CANARY not in f"{caught.value} {caught.value.hint} {config}"


# keys


def test_a_key_comes_from_the_variable_of_the_provider(home: Path) -> None:
    chosen = load(home).model("openai:gpt")
    assert read_api_key(chosen, {"OPENAI_API_KEY": f" {CANARY}\n", "GEMINI_API_KEY": "x"}) == CANARY
    assert [chosen.has_key(environ) for environ in ({"OPENAI_API_KEY": "k"}, {"OPENAI_API_KEY": " "}, {})] == [
        True,
        False,
        False,
    ]
    assert CANARY not in repr(chosen)


def test_a_missing_key_is_named_by_its_variable_when_the_key_is_read_and_not_before(home: Path) -> None:
    chosen = load(home).model("gemini:g")
    for environ in ({}, {"GEMINI_API_KEY": " \n"}):
        with pytest.raises(NotConfigured, match="GEMINI_API_KEY is not set") as caught:
            read_api_key(chosen, environ)
        assert "export GEMINI_API_KEY=..." in str(caught.value.hint)


@pytest.mark.parametrize("value", [f"{CANARY}\n{CANARY}", f"Bearer {CANARY}", f"{CANARY}…", f"{CANARY}\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(home: Path, value: str) -> None:
    with pytest.raises(NotConfigured, match="the value of OPENAI_API_KEY is not a valid key") as caught:
        read_api_key(load(home).model("openai:gpt"), {"OPENAI_API_KEY": value})
    assert CANARY not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "key",
    [
        CANARY,
        "AIzaSyD-canary0123456789",
        "fw_canary0123456789",
        "0123456789abcdef0123456789abcdef",
        "CANARY0123456789ABCDEF",
        "OPENAI_KEY=sk",
        "$OPENAI_API_KEY",
    ],
)
def test_a_key_in_place_of_the_name_of_its_variable_is_refused_without_showing_it(home: Path, key: str) -> None:
    shown = str(refusal(home, f'[providers.openai]\napi_key_env = "{key}"\n'))
    assert ":2: providers.openai.api_key_env: must be the name of a variable in capitals" in shown
    assert key not in shown
    assert "ASKY_PROVIDERS__OPENAI__API_KEY_ENV" in str(refusal(home, "", {"ASKY_PROVIDERS__OPENAI__API_KEY_ENV": key}))


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "KEY", "_K2", "LAB2_VLLM_KEY", "INTERNATIONALISATION_TOKEN"])
def test_the_name_of_a_variable_is_accepted(home: Path, name: str) -> None:
    assert load(home, f'[providers.openai]\napi_key_env = "{name}"\n').providers["openai"].api_key_env == name


def test_a_key_that_was_written_down_is_refused_with_the_way_to_give_it(home: Path) -> None:
    error = refusal(home, f'[providers.openai]\napi_key = "{CANARY}"\n')
    assert "unknown key providers.openai.api_key" in str(error)
    assert "api_key_env" in str(error.hint)
    assert CANARY not in f"{error} {error.hint}"


# tables that are refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[models.m]\nprovider = "opena"\nid = "x"\n', ":2: models.m.provider: there is no provider of this name; did"),
        ('[models.m]\nprovider = "openai"\n', ":2: models.m: the key id is missing"),
        ('[models.m]\nid = "x"\n', "models.m.provider is missing"),
        ('[models.m]\nprovider = "extractive"\nid = "x"\n', ":3: models.m.id: the provider extractive has no other"),
        ('[models.m]\nprovider = "openai"\nid = "x"\ninput_price = 1\n', "give input_price and output_price, or neith"),
        ('[models.m]\nprovider = "openai"\nid = "x"\ncached_input_price = 1\n', "cached_input_price: needs input_pric"),
        ('[models.m]\nprovider = "openai"\nid = "x"\ninput_price = -1\n', "input_price: expected a number from 0"),
        (
            '[models.m]\nprovider = "openai"\nid = "x"\ncontext_tokens = 1000\nmax_output_tokens = 1000\n',
            ":5: models.m.max_output_tokens: must be less than context_tokens",
        ),
        ('[models.m]\nprovider = "openai"\nid = "x"\nparameters = 1\n', "parameters: expected a table, got a whole nu"),
        (
            '[models.m]\nprovider = "openai"\nid = "x"\n[models.m.parameters]\nday = 1979-05-27\n',
            "got one with a date or time in it",
        ),
        (
            '[models.m]\nprovider = "openai"\nid = "x"\n[models.m.parameters]\ntemperature = nan\n',
            "got one that cannot be written as JSON",
        ),
        ('[providers.p]\napi_key_env = "K"\n', "providers.p.base_url is missing"),
        ('[providers.extractive]\nbase_url = "http://x/"\n', "extractive is built in"),
        ('[providers."a:b"]\nbase_url = "http://x/"\n', "the name of a provider must not contain a colon"),
        ('[providers.p]\nbase_url = "x.example/v1"\n', ":2: providers.p.base_url: must be a web address"),
    ],
)
def test_a_table_that_could_not_work_is_refused(home: Path, text: str, message: str) -> None:
    assert message in str(refusal(home, text))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("model", "the key id sets it"),
        ("max_tokens", "max_output_tokens sets it"),
        ("max_completion_tokens", "max_output_tokens sets it"),
        *((name, "asky sets it") for name in ("messages", "stream", "tools", "tool_choice", "response_format", "n")),
        ("Stream_Options", "asky sets it"),
        ("api_key", "keys come from the variable"),
        ("Authorization", "keys come from the variable"),
        ("extra_headers", "keys come from the variable"),
    ],
)
def test_parameters_that_asky_sends_itself_are_refused(home: Path, name: str, why: str) -> None:
    for table in ('models.m]\nprovider = "openai"\nid = "x"\n[models.m', "providers.openai"):
        shown = str(refusal(home, f'[{table}.parameters]\n{name} = "{CANARY}"\n'))
        assert f"{name} may not be set here" in shown
        assert why in shown
        assert CANARY not in shown


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://api.openai.com/v1", None),
        ("http://localhost:8000", None),
        ("http://[::1]:8080/v1/", None),
        ("HTTP://127.0.0.1/v1", None),
        ("https://exämple.org/v1", None),
        ("localhost:8000/v1", "must be a web address"),
        ("file:///etc/passwd", "must be a web address"),
        ("https:///v1", "must be a web address"),
        ("", "must be a web address"),
        (f"https://me:{CANARY}@x/v1", "must not contain a user name"),
        (f"https://{CANARY}@x/v1", "must not contain a user name"),
        (f"https://x/v1?key={CANARY}", "must end before ? and #"),
        ("https://x/v1?", "must end before ? and #"),
        ("https://x/v1#a", "must end before ? and #"),
        ("https://x/a b", "must not contain white space"),
        ("https://x:99999/v1", "not an address"),
        ("http://[::1/v1", "not an address"),
    ],
)
def test_the_address_of_an_endpoint_holds_no_secret_and_nothing_after_its_path(url: str, fault: str | None) -> None:
    found = base_url_fault(url)
    assert (found is None) == (fault is None)
    assert fault is None or fault in str(found)
    assert CANARY not in str(found)


def test_secrets_among_parameters_are_masked_where_values_are_listed(home: Path) -> None:
    environ = {"LAB_TOKEN": CANARY}
    config = load(
        home,
        f'[providers.vllm]\nparameters = {{ metadata = {{ user_token = "other-secret", list = ["x {CANARY}"] }} }}\n',
    )
    entries = {entry.key: entry.value for entry in list_values(config, environ)}
    assert json.loads(json.dumps(entries["providers.vllm.parameters"])) == {
        "metadata": {"user_token": "***", "list": ["x ***"]}
    }
    assert "providers.openai.parameters" not in entries
