"""Train the reader: `python -m tools.train_reader --help` in a checkout, with the extra `train`.

A run is seeded, writes its state every few hundred steps and goes on from there when it is started again. Each run
lists the pairs that it reads, stages one after the other, and refuses records that share text with what is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch.nn import functional

from asky.research.embedding.packaged import FOLDER, TOKENIZER_FILE
from asky.research.reader.pairs import Pair, PairEncoder
from tools.reader.card import card
from tools.reader.export import export
from tools.reader.figures import Figures, answer_figures, claim_figures, made_claims, onnx_reader, public_claims
from tools.reader.network import ReaderNetwork, load_network
from tools.reader.overlap import Measured, shares, texts_of
from tools.reader.records import Group, made_groups, public_groups, read_lines, read_made

_BATCH_TOKENS = 4096  # padding included: some 64 pairs of 60 tokens
_WARM_UP = 0.02  # of the steps of a stage
_LIST_WEIGHT = 0.5  # of the loss that sets the units of one question, and "none of them", against each other
_POOL = 4096  # groups that are sorted by length together
_MADE = Path(__file__).parent / "reader_data"
_VALIDATED = 500  # claims of a set
_SHOWN = 5  # records that share text with what is measured


@dataclass(frozen=True, slots=True)
class Stage:
    """`public` and `made` say how often a pass over these records is in the stage; rates are those at its start."""

    name: str
    public: float
    made: float
    rate: float
    head_rate: float


STAGES = (
    Stage("broad", public=0.5, made=1.0, rate=1e-4, head_rate=1e-3),
    Stage("close", public=0.15, made=3.0, rate=6e-5, head_rate=2e-4),
)


@dataclass(slots=True)
class Batch:
    """Groups that are read in one step."""

    groups: list[Group]
    pairs: list[Pair]


def stage_groups(stage: Stage, public: Path | None, made: Sequence[object], seed: int) -> list[Group]:
    """Return the groups of a stage, shuffled; the same seed gives the same."""
    random = Random(f"{seed}:{stage.name}")
    groups: list[Group] = []
    if public is not None and stage.public:
        whole = public_groups(public, "train", random)
        groups += random.sample(whole, int(len(whole) * stage.public))
    for _ in range(math.ceil(stage.made)):
        drawn = made_groups(made, random)
        groups += drawn[: int(len(drawn) * min(1.0, stage.made))]
    random.shuffle(groups)
    return groups


def batches(groups: Sequence[Group], encoder: PairEncoder, random: Random, tokens: int = _BATCH_TOKENS) -> list[Batch]:
    """Return the groups in batches of pairs of like length, at most `tokens` in one, padding included."""
    made: list[Batch] = []
    for start in range(0, len(groups), _POOL):
        pool = []
        for group in groups[start : start + _POOL]:
            pairs = encoder.claims(group.pairs) if group.is_claim else encoder.questions(group.pairs)  # type: ignore[arg-type]
            pool.append((max(len(pair.ids) for pair in pairs), group, pairs))
        pool.sort(key=lambda each: each[0])
        rows: list[Batch] = [Batch([], [])]
        for longest, group, pairs in pool:
            if rows[-1].pairs and (len(rows[-1].pairs) + len(pairs)) * longest > tokens:
                rows.append(Batch([], []))
            rows[-1].groups.append(group)
            rows[-1].pairs.extend(pairs)
        random.shuffle(rows)
        made += rows
    return made


def tensors(pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return token ids, token types and attention mask, `int64[len(pairs), longest]` each."""
    longest = max(len(pair.ids) for pair in pairs)
    ids, types, mask = (torch.zeros((len(pairs), longest), dtype=torch.long) for _ in range(3))
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        types[row, pair.first : len(pair.ids)] = 1
        mask[row, : len(pair.ids)] = 1
    return ids, types, mask


def loss_of(network: ReaderNetwork, batch: Batch) -> torch.Tensor:
    """Return the loss of a batch, summed over its groups.

    A unit is judged by itself, and the units of one question with "none of them" (logit 0) against each other.
    """
    answer, verdict = network(*tensors(batch.pairs))
    total = answer.new_zeros(())
    at = 0
    claims: list[int] = []
    labels: list[int] = []
    for group in batch.groups:
        here = slice(at, at + len(group.pairs))
        at = here.stop
        if group.is_claim:
            claims.append(here.start)
            labels.append(group.targets[0])
            continue
        logits, target = answer[here], torch.tensor(group.targets, dtype=torch.float32)
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="mean")
        against = torch.cat((logits.new_zeros(1), logits))
        right = torch.cat((1 - target.max().reshape(1), target))
        list_loss = -(right / right.sum() * functional.log_softmax(against, 0)).sum()
        total = total + group.weight * (each * 2 + _LIST_WEIGHT * list_loss)
    if claims:
        total = total + functional.cross_entropy(verdict[claims], torch.tensor(labels), reduction="sum")
    return total


class Run:
    """A training run in a folder: its state, its log and its weights."""

    def __init__(self, folder: Path, network: ReaderNetwork, stages: Sequence[Stage], seed: int = 1) -> None:
        self.folder, self.network, self.stages, self.seed = folder, network, stages, seed
        self.stage, self.step = 0, 0
        self.seconds = 0.0
        heads = [each for name, each in network.named_parameters() if name[:2] in ("a.", "b.")]
        body = [each for name, each in network.named_parameters() if name.startswith("bert.encoder")]
        self.optimizer = torch.optim.AdamW([{"params": body}, {"params": heads}], weight_decay=0.01)
        folder.mkdir(parents=True, exist_ok=True)

    def resume(self) -> None:
        """Take up the state in the folder, if there is one."""
        file = self.folder / "state.pt"
        if not file.exists():
            return
        state = torch.load(file, weights_only=True)
        self.stage, self.step, self.seconds = state["stage"], state["step"], state["seconds"]
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])

    def save(self) -> None:
        """Write the state; a run that is ended while it writes keeps the state before."""
        new = self.folder / "state.new"
        torch.save(
            {
                "stage": self.stage,
                "step": self.step,
                "seconds": self.seconds,
                "network": self.network.state_dict(),
                "optimizer": self.optimizer.state_dict(),
            },
            new,
        )
        new.replace(self.folder / "state.pt")

    def log(self, **facts: object) -> None:
        line = json.dumps({"stage": self.stages[self.stage].name, "step": self.step, **facts})
        print(line, flush=True)
        with (self.folder / "log.jsonl").open("a") as file:
            file.write(line + "\n")

    def train_stage(self, rows: Sequence[Batch], *, save_steps: int, bf16: bool) -> None:
        """Read the batches of the stage that the run is in, from its step on."""
        stage, steps = self.stages[self.stage], len(rows)
        self.network.train()
        losses: list[float] = []
        began, pairs = time.monotonic(), 0
        for step in range(self.step, steps):
            share = min((step + 1) / max(1, steps * _WARM_UP), 1 - step / steps)
            for group, rate in zip(self.optimizer.param_groups, (stage.rate, stage.head_rate), strict=True):
                group["lr"] = rate * share
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                loss = loss_of(self.network, rows[step]) / len(rows[step].groups)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            losses.append(loss.item())
            pairs += len(rows[step].pairs)
            self.step = step + 1
            if self.step % save_steps == 0 or self.step == steps:
                took = time.monotonic() - began
                self.seconds += took
                self.log(
                    of=steps,
                    loss=round(sum(losses) / len(losses), 4),
                    pairs_s=round(pairs / took),
                    minutes=round(self.seconds / 60),
                )
                self.save()
                losses, pairs, began = [], 0, time.monotonic()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.train_reader", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of the run: state, log, weights")
    parser.add_argument("--weights", type=Path, required=True, help="model.safetensors to start from")
    parser.add_argument("--public", type=Path, help="folder with answers_train.jsonl.gz, claims_train.jsonl.gz")
    parser.add_argument(
        "--made", type=Path, default=Path(__file__).parent / "reader_data", help="documents written for it"
    )
    parser.add_argument("--stages", default="broad,close", help="which stages, in order")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-steps", type=int, default=250)
    parser.add_argument("--bf16", action="store_true", help="bfloat16 where the processor has units for it")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--measured", type=Path, nargs="*", default=[], help="folders with what is measured")
    parser.add_argument("--export", type=Path, help="folder for the trained reader")
    given = parser.parse_args(arguments)
    if given.threads:
        torch.set_num_threads(given.threads)
    made = read_made(given.made, "train")
    if given.measured and (shared := _shared(given.measured, given.public, made)):
        for name, fragment in shared:
            print(f"{name} shares text with what is measured: {fragment!r}", file=sys.stderr)
        return 1
    named = {each.name: each for each in STAGES}
    stages = [named[name] for name in given.stages.split(",")]
    run = Run(given.run, load_network(given.weights, given.seed), stages, given.seed)
    run.resume()
    encoder = PairEncoder(FOLDER / TOKENIZER_FILE)
    while run.stage < len(stages):
        stage = stages[run.stage]
        rows = batches(stage_groups(stage, given.public, made, given.seed), encoder, Random(given.seed))
        run.train_stage(rows, save_steps=given.save_steps, bf16=given.bf16)
        torch.save(run.network.state_dict(), given.run / f"{stage.name}.pt")
        run.stage, run.step = run.stage + 1, 0
        if run.stage < len(stages):
            run.save()
    if given.export:
        export({name: weight.numpy() for name, weight in run.network.state_dict().items()}, given.export)
        write_card(run, given.export, encoder, given.made, given.public)
    return 0


def write_card(run: Run, folder: Path, encoder: PairEncoder, made: Path, public: Path | None) -> None:
    """Measure the exported reader on the validation documents and sets, and write its card beside it."""
    documents = read_made(made, "val")
    read = onnx_reader(folder)
    figures: dict[str, Figures] = {
        "documents written for it, questions": answer_figures(read, encoder, documents),
        "documents written for it, claims": claim_figures(read, encoder, made_claims(documents)),
    }
    if public is not None:
        for name, claims in public_claims(public / "claims_val.jsonl.gz", _VALIDATED).items():
            figures[name] = claim_figures(read, encoder, claims)
    stages = [
        f"stage `{each.name}`: {each.public:g} passes over the public sets, {each.made:g} over the documents, "
        f"rate {each.rate:g}"
        for each in run.stages
    ]
    stages.append(f"seconds in all: {run.seconds:,.0f}; seed {run.seed}")
    (folder / "README.md").write_text(card(stages, _records(public, read_made(made, "train")), figures), "utf-8")
    log = {name: {key: round(value, 4) for key, value in found.items()} for name, found in figures.items()}
    (run.folder / "figures.json").write_text(json.dumps(log, indent=1), "utf-8")


def _shared(folders: Sequence[Path], public: Path | None, made: Sequence[Any]) -> Sequence[tuple[str, str]]:
    """Return records that share text with what is measured, with the text."""
    measured = Measured(text for folder in folders for text in texts_of(folder))
    return shares(_records(public, made), measured, _SHOWN)


def _records(public: Path | None, made: Sequence[Any]) -> Iterator[Any]:
    """Yield the documents written for the reader, then the records of the public sets."""
    files = [public / f"{task}_train.jsonl.gz" for task in ("answers", "claims")] if public is not None else []
    return chain(made, *map(read_lines, files))


if __name__ == "__main__":
    sys.exit(main())
