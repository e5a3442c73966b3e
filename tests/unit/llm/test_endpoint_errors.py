"""Refusals in every dialect become the same errors; what they say is fit to be shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import AuthenticationFailed, ContextOverflow, NotConfigured, ProviderError, RateLimited
from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.errors import EndpointFailure, clean, failure_of, redirect_error
from asky.llm.endpoint.refusal import find_error, parse_refusal, refused_parameter

KEY = "sk-secret/0123+456"
ENDPOINT = Endpoint(
    "gpt",
    "acme",
    "https://api.acme.test/v1",
    "acme-1",
    KEY,
    8000,
    api_key_env="ACME_KEY",
)


def fail(status: int, body: Any, endpoint: Endpoint = ENDPOINT, **headers: Any) -> EndpointFailure:
    text = body if isinstance(body, str) else json.dumps(body)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of(endpoint, parse_refusal(text), status=status, headers=names, wall_clock=lambda: 0.0)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "The flux is low.", "type": "invalid_request_error", "param": None, "code": None}},
        {"error": {"message": "The flux is low.", "code": 400}},
        {"error": "The flux is low."},
        {"object": "error", "message": "The flux is low.", "code": 400},
        [{"error": {"code": 400, "message": "The flux is low.", "status": "INVALID_ARGUMENT"}}],
        {"detail": "The flux is low."},
        {"detail": [{"loc": ["body", "x"], "msg": "The flux is low.", "type": "value_error"}]},
        {"message": {"detail": [{"msg": "The flux is low."}]}},
        "The flux is low.",
        '"The flux is low."',
        "<html><head><title>400</title></head><body><h1>The flux\n is low.</h1></body></html>",
    ],
)
def test_the_message_is_found_in_every_shape(body: Any) -> None:
    failure = fail(400, body)
    assert failure.error.message == "gpt at api.acme.test answered 400: The flux is low."
    assert isinstance(failure.error, ProviderError)
    assert not failure.may_retry


@pytest.mark.parametrize(
    "body", ["", "{}", "[]", "null", "5", '{"error": null}', '{"error": {}}', "[" * 9000, "\0\x1b[31m"]
)
def test_a_body_that_says_nothing_leaves_the_status(body: str) -> None:
    assert fail(500, body).error.message.startswith("gpt at api.acme.test answered 500")


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message} | more}


@pytest.mark.parametrize(
    ("status", "body", "kind", "may_retry"),
    [
        (401, error("no"), AuthenticationFailed, False),
        (403, error("no"), AuthenticationFailed, False),
        (400, [error("API key not valid. Please pass a valid API key.", code=400)], AuthenticationFailed, False),
        (403, error("flagged", metadata={"flagged_input": "x"}), ProviderError, False),
        (404, error("no"), NotConfigured, False),
        (400, error("no such model", code="model_not_found"), NotConfigured, False),
        (402, error("no credit"), RateLimited, False),
        (429, error("slow down"), RateLimited, True),
        (429, error("no", code="insufficient_quota"), RateLimited, False),
        (429, error("You exceeded your current quota, please check your plan"), RateLimited, False),
        (429, error("Request too large on TPM: Limit 30000, Requested 41000."), RateLimited, False),
        (429, error("Rate limit on TPM: Limit 30000, Used 29000, Requested 2000."), RateLimited, True),
        (413, error("Request too large on TPM: Limit 6,000, Requested 7,000"), RateLimited, False),
        (413, error("too large"), ContextOverflow, False),
        (408, error("slow"), ProviderError, True),
        (409, error("busy"), ProviderError, True),
        (500, error("oops"), ProviderError, True),
        (529, error("overloaded"), ProviderError, True),
        (501, error("no"), ProviderError, False),
        (418, error("teapot"), ProviderError, False),
    ],
)
def test_a_status_and_its_words_decide_the_error(
    status: int, body: Any, kind: type[Exception], may_retry: bool
) -> None:
    failure = fail(status, body)
    assert type(failure.error) is kind
    assert (failure.may_retry, failure.error.retryable) == (may_retry, may_retry)


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (error("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"), 4096),
        (error("too long", code="context_length_exceeded"), None),
        (error("the request exceeds the available context size", type="exceed_context_size_error", n_ctx=4096), 4096),
        (error("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"), 4096),
        (error("This model's maximum context length is 32,768 tokens"), 32768),
        (error("prompt is too long: 210000 tokens > 200000 maximum"), 200000),
        (error("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"), 200000),
        ([error("The input token count (9) exceeds the maximum number of tokens allowed (8).", code=400)], 8),
        (error("Prompt contains 40000 tokens, too large for model with 32768 maximum context length"), 32768),
        (error("This model's maximum prompt length is 131072 but the request contains 537812 tokens."), 131072),
        (error("The prompt is too long: 140000, model maximum context length: 131071"), 131071),
        (
            {
                "error": "Trying to keep the first 9 tokens when context the overflows. However, the model is loaded "
                "with context length of only 4096 tokens, which is not enough."
            },
            4096,
        ),
        (error("Please reduce the length of the messages or completion."), None),
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_an_overflow_is_recognised_with_its_limit(status: int, body: Any, limit: int | None) -> None:
    failure = fail(status, body)
    assert isinstance(failure.error, ContextOverflow)
    assert failure.error.limit_tokens == limit
    assert not failure.may_retry


def test_an_error_inside_a_success_counts_with_the_status_that_it_names() -> None:
    assert isinstance(fail(200, error("slow down", code=429)).error, RateLimited)
    assert fail(200, error("oops", code=502)).may_retry
    assert isinstance(fail(200, error("oops", code="server_error")).error, ProviderError)
    assert isinstance(fail(200, error("slow", type="requests", code="rate_limit_exceeded")).error, RateLimited)
    assert isinstance(fail(200, error("no", type="authentication_error")).error, AuthenticationFailed)
    assert not fail(200, error("no", type="invalid_request_error")).may_retry
    assert "answered" not in fail(200, error("oops")).error.message


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"retry_after": "7"}, error("x"), 7.0),
        ({"retry_after": "1.5", "retry_after_ms": "250"}, error("x"), 0.25),
        ({}, error("x", details=[{"@type": "RetryInfo", "retryDelay": "23.5s"}]), 23.5),
        ({}, error("x"), None),
    ],
)
def test_the_wait_that_is_named_is_found(headers: dict[str, Any], body: Any, wait: float | None) -> None:
    assert fail(429, body, **headers).named_wait_s == wait


def test_a_quota_that_comes_back_soon_is_a_rate() -> None:
    body = [{"error": {"code": 429, "message": "You exceeded your current quota", "details": [{"retryDelay": "9s"}]}}]
    failure = fail(429, body)
    assert failure.may_retry
    assert "9 s" in (failure.error.hint or "")


def test_the_endpoint_decides_on_retries_where_it_says_so() -> None:
    assert not fail(500, "", x_should_retry="false").may_retry
    assert fail(400, "", x_should_retry="true").may_retry
    assert not fail(401, "", x_should_retry="true").may_retry
    assert fail(429, "").may_retry
    assert not fail(429, "", x_should_retry="false").may_retry


@pytest.mark.parametrize("digits", ["9" * 5000, "9," * 3000, "," * 5000])
def test_numbers_of_any_length_in_what_an_endpoint_says_are_only_words(digits: str) -> None:
    assert isinstance(fail(429, error(f"Limit: {digits}, Requested: {digits}")).error, RateLimited)
    for said in ("the context length is", "prompt is too long: 1 >", "maximum context length"):
        assert isinstance(fail(400, error(f"{said} {digits}. prompt is too long")).error, ContextOverflow)
    overflow = fail(400, error("too many tokens", n_ctx=10**4000)).error
    assert isinstance(overflow, ContextOverflow)
    assert overflow.limit_tokens is None


def test_an_error_that_is_nested_deeply_is_read_as_text() -> None:
    assert isinstance(fail(500, "[" * 900 + "]" * 900).error, ProviderError)


def test_a_loading_model_is_told_from_a_broken_server() -> None:
    assert fail(503, error("Loading model")).is_loading
    assert not fail(503, error("No capacity")).is_loading
    assert not fail(500, error("Loading model")).is_loading


def test_errors_name_what_to_look_at() -> None:
    refused = fail(401, "no").error
    for part in ("acme", "acme-1"):
        assert part in refused.message
    assert "ACME_KEY" in (refused.hint or "")
    assert "acme-1" in fail(404, "no").error.message
    without = Endpoint("gpt", "acme", "https://api.acme.test/v1", "acme-1", None, 8000, api_key_env="ACME_KEY")
    assert "set the environment variable ACME_KEY" in (fail(401, "no", without).error.hint or "")


@pytest.mark.parametrize(
    "said",
    [
        f"Bad key {KEY}.",
        "Bad key sk-secret%2F0123%2B456.",
        f"See https://user:{KEY}@acme.test/?key={KEY}#x now",
        "See https://acme.test/path?token=other-secret-0",
        "postgres://admin:hunter22@db/x failed",
    ],
)
@pytest.mark.parametrize("shape", ["json", "text", "html"])
def test_no_secret_reaches_a_message(said: str, shape: str) -> None:
    body: Any = error(said) if shape == "json" else said if shape == "text" else f"<html><p>{said}</p></html>"
    for status in (400, 401, 404, 429, 500):
        failure = fail(status, body)
        text = f"{failure.error.message} {failure.error.hint}"
        for secret in (KEY, "sk-secret", "other-secret", "hunter22"):
            assert secret not in text


@given(st.text(max_size=400))
def test_a_message_is_one_short_printable_line(text: str) -> None:
    cleaned = clean(text, ENDPOINT)
    assert len(cleaned) <= 300
    assert all(c.isprintable() for c in cleaned)


def test_a_redirect_names_only_the_host_that_it_leads_to() -> None:
    message = redirect_error(ENDPOINT, 302, "https://u:p@evil.test/x?key=1").message
    assert "evil.test" in message
    assert "key=1" not in message
    assert redirect_error(ENDPOINT, 301, "/elsewhere").message
    assert redirect_error(ENDPOINT, 301, "http://[bad").message


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (error("no", param="temperature", code="unsupported_value"), "temperature"),
        (error("no", param="stream_options.include_usage"), "stream_options"),
        (error("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."), "max_tokens"),
        (error("Unrecognized request argument supplied: stream_options"), "stream_options"),
        (error('Invalid JSON payload received. Unknown name "stream_options": Cannot find field.'), "stream_options"),
        (error('json: unknown field "stream_options"'), "stream_options"),
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra"}]}, "temperature"),
        (error("Unknown parameter: 'top_p'."), None),
        (error("temperature was fine"), None),
        (error("something is not supported"), None),
        (error("the max_tokens_total is not supported"), None),
        (error("Invalid schema", param="tools[0].function.parameters"), None),
    ],
)
def test_the_refused_parameter_is_one_that_was_sent(body: Any, name: str | None) -> None:
    sent = ["stream_options", "temperature", "max_tokens"]
    assert refused_parameter(parse_refusal(json.dumps(body)), sent) == name


def test_errors_are_found_in_chunks_and_nothing_else_is_one() -> None:
    errors: list[Any] = [
        {"error": "x"},
        {"choices": [{"index": 0, "error": {"message": "x"}}]},
        {"choices": [], "error": {"message": "x"}},
        {"object": "error", "message": "x"},
        {"type": "error", "error": {"message": "x"}},
        [{"error": {"message": "x"}}],
        {"detail": "x"},
    ]
    others: list[Any] = [
        {"choices": []},
        {"choices": [{"delta": {}}]},
        {"error": None, "choices": []},
        [],
        None,
        5,
        "error",
        {},
    ]
    assert [chunk for chunk in errors if find_error(chunk) is None] == []
    assert [chunk for chunk in others if find_error(chunk) is not None] == []
