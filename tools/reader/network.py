"""The network: the encoder of all-MiniLM-L6-v2 with two heads on the last state of `[CLS]`.

Names of parameters are those of the published weights (`BertModel`), so that a file of them loads as it is.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import gelu

DIM, HEADS, LAYERS, VOCABULARY, POSITIONS = 384, 12, 6, 30522, 512
_INNER, _EPSILON = 1536, 1e-12
_MASKED = -1e4  # added to the attention to padding


class _Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, DIM)
        self.position_embeddings = nn.Embedding(POSITIONS, DIM)
        self.token_type_embeddings = nn.Embedding(2, DIM)
        self.LayerNorm = nn.LayerNorm(DIM, _EPSILON)

    def forward(self, ids: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1])
        return self.LayerNorm(
            self.word_embeddings(ids) + self.token_type_embeddings(types) + self.position_embeddings(places)
        )


class _Projection(nn.Module):
    """A linear map, then the sum with what went in before, normalised."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(size, DIM)
        self.LayerNorm = nn.LayerNorm(DIM, _EPSILON)

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(self.dense(x) + before)


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = nn.ModuleDict({name: nn.Linear(DIM, DIM) for name in ("query", "key", "value")})
        self.output = _Projection(DIM)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows, length, _ = x.shape
        query, key, value = (
            self.self[name](x).view(rows, length, HEADS, DIM // HEADS).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        weights = (query @ key.transpose(2, 3) * (DIM // HEADS) ** -0.5 + mask).softmax(-1)
        seen = weights.to(value.dtype) @ value
        return self.output(seen.transpose(1, 2).reshape(rows, length, DIM), x)


class _Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(DIM, _INNER)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return gelu(self.dense(x))


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = _Attention()
        self.intermediate = _Inner()
        self.output = _Projection(_INNER)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class _Encoder(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embeddings = _Embeddings()
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer() for _ in range(layers))})

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.embeddings(ids, types)
        seen = (1.0 - mask[:, None, None, :].to(x.dtype)) * _MASKED
        for layer in self.encoder["layer"]:
            x = layer(x, seen)
        return x


class ReaderNetwork(nn.Module):
    """`forward` takes token ids, token types and attention mask, `int64[n, length]` each.

    It returns the logit of "this unit answers this question", `float32[n]`, and those of entailed, contradicted and
    neither, `float32[n, 3]`.
    """

    def __init__(self, layers: int = LAYERS) -> None:
        super().__init__()
        self.bert = _Encoder(layers)
        self.a = nn.Linear(DIM, 1)
        self.b = nn.Linear(DIM, 3)

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first = self.bert(ids, types, mask)[:, 0].float()
        return self.a(first).squeeze(-1), self.b(first)


def load_network(path: Path, seed: int, layers: int = LAYERS) -> ReaderNetwork:
    """Return a network with the first `layers` of the file `path`; what it lacks, as the heads, is drawn with `seed`.

    `path` holds the names of `BertModel`, with or without `bert.` before them. Raises `ValueError` if weights of the
    encoder are missing in it.
    """
    torch.manual_seed(seed)
    network = ReaderNetwork(layers)
    given = {name.removeprefix("bert."): weight.float() for name, weight in load_file(path).items()}
    wanted = network.state_dict()
    found = {
        name: given[short]
        for name in wanted
        if (short := name.removeprefix("bert.")) in given and given[short].shape == wanted[name].shape
    }
    missing = [name for name in wanted if name not in found and name.startswith("bert.")]
    if missing:
        raise ValueError(f"{path}: {len(missing)} weights of the encoder are missing, {missing[0]} first")
    network.load_state_dict(found, strict=False)
    network.bert.embeddings.requires_grad_(False)
    return network
