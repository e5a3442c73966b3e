"""Which file of a model suits a processor, and where a hub may lead a download."""

from __future__ import annotations

import pytest

from asky.net.downloads import is_plain_tls, is_same_host
from asky.research.embedding.processor import best_graph, this_processor
from asky.research.hub.repository import is_storage

EXPORTED = [
    "config.json",
    "onnx/model.onnx",
    "onnx/model_O4.onnx",
    "onnx/model_qint8_arm64.onnx",
    "onnx/model_qint8_avx512.onnx",
    "onnx/model_qint8_avx512_vnni.onnx",
    "onnx/model_quint8_avx2.onnx",
    "openvino/openvino_model.xml",
]
CONVERTED = ["onnx/model.onnx", "onnx/model_fp16.onnx", "onnx/model_quantized.onnx"]


@pytest.mark.parametrize(
    ("processor", "exported", "converted"),
    [
        ("avx512_vnni", "onnx/model_qint8_avx512_vnni.onnx", "onnx/model_quantized.onnx"),
        ("avx512", "onnx/model_qint8_avx512.onnx", "onnx/model_quantized.onnx"),
        ("avx2", "onnx/model_quint8_avx2.onnx", "onnx/model_quantized.onnx"),
        ("arm64", "onnx/model_qint8_arm64.onnx", "onnx/model_quantized.onnx"),
        ("riscv64", "onnx/model.onnx", "onnx/model_quantized.onnx"),
        (None, "onnx/model.onnx", "onnx/model.onnx"),
    ],
)
def test_each_processor_has_its_file(processor: str | None, exported: str, converted: str) -> None:
    assert best_graph(EXPORTED, processor) == exported
    assert best_graph(CONVERTED, processor) == converted


def test_an_older_file_does_where_the_best_is_missing() -> None:
    assert best_graph(["model_quint8_avx2.onnx", "model.onnx"], "avx512_vnni") == "model_quint8_avx2.onnx"
    assert best_graph(["onnx/model_qint8_avx512_vnni.onnx"], "avx2") is None
    assert best_graph(["model.onnx"], "avx2") == "model.onnx"
    assert best_graph(["other/model.onnx", "onnx/decoder.onnx"], "avx2") is None


def test_this_processor_is_known() -> None:
    assert this_processor()


@pytest.mark.parametrize("host", ["cdn-lfs.hf.co", "cas-bridge.xethub.hf.co", "us-east-1.aws.cdn.hf.co", "hf.co"])
def test_the_storage_of_the_hub_is_trusted(host: str) -> None:
    assert is_storage(host)
    assert is_plain_tls(f"https://{host}/x?signature=1")


@pytest.mark.parametrize(
    "url",
    [
        "http://cdn.hf.co/x",
        "https://cdn.hf.co:8443/x",
        "https://user@cdn.hf.co/x",
        "https://",
        "//cdn.hf.co",
        "ftp://hf.co",
    ],
)
def test_a_storage_without_plain_tls_is_not(url: str) -> None:
    assert not is_plain_tls(url)


@pytest.mark.parametrize("host", ["evil-hf.co", "hf.co.example", "cdn.hf.com", "127.0.0.1", ""])
def test_hosts_of_others_are_not_trusted(host: str) -> None:
    assert not is_storage(host)


def test_a_host_is_the_same_with_scheme_and_port_alone() -> None:
    assert is_same_host("https://hub.example/a", "https://HUB.example/b")
    assert not is_same_host("https://hub.example/a", "http://hub.example/a")
    assert not is_same_host("https://hub.example/a", "https://hub.example:8443/a")
