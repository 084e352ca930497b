"""Recurrent models beside plain `torch.nn` modules: what the contract costs.

    python benchmarks/recurrent.py --threads 1

For each preset, learns from one batch of random tokens in ways that take turns: our
model, and the same network as one would write it with `torch.nn.LSTM` (GRU, RNN), with
the same sizes, dropout and loss. The plain one either packs its sequences, or reads
padding as if it were words; the goal is at most 10 % more than the quicker of both.
Prints a Markdown row for each preset.
"""

import argparse
import statistics
import time
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dragoman.config import Config, load_preset
from dragoman.model.build import build_model
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.training.loss import translation_loss

MODULES: dict[str, Any] = {"elman": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
GOAL = 1.1


class Plain(nn.Module):
    """The same network in the usual way: torch's own stacks from end to end."""

    def __init__(self, config: Config, vocabulary: int, *, packed: bool) -> None:
        super().__init__()
        self.packed = packed
        shape = config.model
        size, module = shape.d_model, MODULES[shape.cell]
        ways = 2 if shape.bidirectional else 1
        self.embedding = nn.Embedding(vocabulary, size)
        self.encoder = module(
            size,
            size // ways,
            num_layers=shape.num_encoder_layers,
            dropout=shape.dropout,
            bidirectional=shape.bidirectional,
            batch_first=True,
        )
        self.decoder = module(
            size,
            size,
            num_layers=shape.num_decoder_layers,
            dropout=shape.dropout,
            batch_first=True,
        )
        self.joined = None
        if shape.attention != "none":
            self.joined = nn.Linear(2 * size, size)
        self.dropout = nn.Dropout(shape.dropout)
        self.ways = ways

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        words = source != PAD
        memory, state = self._read(self.dropout(self.embedding(source)), words)
        first: Any = self._join_ways(state)
        states, _ = self.decoder(self.dropout(self.embedding(target_in)), first)
        if self.joined is not None:
            scores = states @ memory.mT
            scores = scores.masked_fill(~words[:, None], float("-inf"))
            context = scores.softmax(dim=-1) @ memory
            states = self.joined(torch.cat([context, states], dim=-1)).tanh()
        dropped: Tensor = self.dropout(states)
        return dropped

    def _read(self, x: Tensor, words: Tensor) -> tuple[Tensor, Any]:
        if not self.packed:
            shown, state = self.encoder(x)
            return shown, state
        lengths = words.sum(dim=1)
        packed = pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        shown, state = self.encoder(packed)
        memory, _ = pad_packed_sequence(shown, batch_first=True)
        return memory, state

    def _join_ways(self, state: Any) -> Any:
        if isinstance(state, tuple):
            return tuple(map(self._join_ways, state))
        by_layer = state.unflatten(0, (-1, self.ways))
        return by_layer.transpose(1, 2).flatten(2).contiguous()


def batch(rows: int, length: int, vocabulary: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw pairs whose lengths differ a little, as in batches sorted by length."""

    def side() -> Tensor:
        tokens = torch.randint(4, vocabulary, (rows, length))
        ends = torch.randint(max(1, length - 5), length, (rows,))
        ends[0] = length - 1
        places = torch.arange(length)
        tokens[places == ends[:, None]] = END
        tokens[places > ends[:, None]] = PAD
        return tokens

    source, target = side(), side()
    target_in = torch.cat([torch.full((rows, 1), BEGIN), target[:, :-1]], dim=1)
    return source, target_in, target


def compare(preset: str, options: argparse.Namespace) -> str:
    """Let all learn in turns, and give their median times."""
    config = load_preset(preset)
    source, target_in, target_out = batch(
        options.rows, options.length, options.vocabulary
    )
    ours = build_model(config.model, options.vocabulary).train()
    packed = Plain(config, options.vocabulary, packed=True).train()
    padded = Plain(config, options.vocabulary, packed=False).train()
    learners = {
        "ours": (ours.features, ours.output_weight),
        "packed": (packed.features, packed.embedding.weight),
        "padded": (padded.features, padded.embedding.weight),
    }
    times: dict[str, list[float]] = {name: [] for name in learners}
    for turn in range(options.turns + 1):
        for name, (features, weight) in learners.items():
            began = time.perf_counter()
            found = features(source, target_in)
            loss = translation_loss(found, weight, target_out, 0.1)
            (loss.smoothed / loss.tokens).backward()
            if turn:  # the first pays for what later ones reuse
                times[name].append(1000 * (time.perf_counter() - began))
    own, *plain = (statistics.median(times[name]) for name in learners)
    ratio = own / min(plain)
    verdict = "yes" if ratio <= GOAL else "no"
    return (
        f"| {preset} | {own:.0f} | {plain[0]:.0f} | {plain[1]:.0f} "
        f"| {ratio:.2f} | {verdict} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    print("| preset | Dragoman, ms | packed | padded | to the quicker | within 10 % |")
    print("|---|--:|--:|--:|--:|---|")
    for preset in ("rnn", "gru", "lstm", "lstm-attention"):
        print(compare(preset, options), flush=True)


if __name__ == "__main__":
    main()
