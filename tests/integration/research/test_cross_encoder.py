"""Models that read two texts together, as libraries save them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from asky.errors import NotConfigured
from asky.research.embedding.cross_encoder import open_cross_encoder
from tests.support.tiny_model import save_tiny_classifier

PAIRS = [("the tide is high", "it is high"), ("a", "b c d"), ("long " * 200, "short")]


@pytest.mark.model
@pytest.mark.filterwarnings("ignore")  # of the exporter, which warns of itself
def test_onnxruntime_and_sentence_transformers_give_the_same_outputs(tmp_path: Path) -> None:
    folder = save_tiny_classifier(tmp_path / "model", labels=("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), with_onnx=True)
    fast = open_cross_encoder(str(folder))
    (folder / "onnx" / "model.onnx").unlink()
    slow = open_cross_encoder(str(folder))
    assert fast.labels == slow.labels == ("contradiction", "neutral", "entailment")
    first, second = fast.read(PAIRS), slow.read(PAIRS)
    assert first.shape == second.shape == (3, 3)
    assert np.allclose(first, second, atol=1e-4)
    assert not np.allclose(first[0], first[1], atol=1e-3)


def test_what_is_no_such_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="contains no NLI model or cross-encoder"):
        open_cross_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertModel"]}))
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(NotConfigured, match="it does not classify texts"):
        open_cross_encoder(str(tmp_path))
    with pytest.raises(NotConfigured, match="is not on this machine"):
        open_cross_encoder("cross-encoder/none-of-that-name")
