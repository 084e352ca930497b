"""Who may look at whom, and the proof that nobody sees the future."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.data.batching import make_batch
from dragoman.errors import InspectionError
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.observation import Observation
from dragoman.inspection.predictions import readable_piece
from dragoman.model.masks import causal_mask, padding_mask
from dragoman.special_tokens import UNKNOWN


@dataclass(frozen=True)
class BatchMasks:
    """The masks of one batch; in each, True means "may attend"."""

    sources: tuple[tuple[str, ...], ...]  # pieces, padding included
    targets: tuple[tuple[str, ...], ...]  # what the decoder reads
    padding: Tensor  # (sentence, source_length): words that may be attended to
    causal: Tensor  # (target_length, target_length): each place and those before
    combined: Tensor  # (sentence, target_length, target_length): of these, the words


PAD_SIGN = "∅"


def batch_masks(inspections: Sequence[Inspection]) -> BatchMasks:
    """Put some translations into one batch, and give the masks it is computed with."""
    if not inspections:
        raise InspectionError("there is no batch without a sentence: give at least one")
    batch = make_batch(
        [torch.tensor(one.source.ids[:-1]).numpy() for one in inspections],
        [torch.tensor(one.target_out.ids[:-1]).numpy() for one in inspections],
    )
    causal = causal_mask(batch.target_in.shape[1])
    words = padding_mask(batch.target_in)[:, 0]  # (sentence, 1, target_length)
    return BatchMasks(
        sources=tuple(
            _padded(one.source.pieces, batch.source.shape[1]) for one in inspections
        ),
        targets=tuple(
            _padded(one.target_in.pieces, len(causal)) for one in inspections
        ),
        padding=padding_mask(batch.source)[:, 0, 0],
        causal=causal,
        combined=causal & words & words.transpose(1, 2),
    )


def _padded(pieces: tuple[str, ...], length: int) -> tuple[str, ...]:
    return (*pieces, *[PAD_SIGN] * (length - len(pieces)))


@dataclass(frozen=True)
class LeakTest:
    """One target token exchanged, and what that did to the logits of each place."""

    place: int  # of the token in what the decoder reads, from 0
    before: str
    after: str
    differences: Tensor  # (target_length): the largest change of a logit at each place

    @property
    def leak(self) -> float:
        """The largest change at a place before the exchanged token: 0 with masks."""
        return float(self.differences[: self.place].max()) if self.place else 0.0


def leak_test(seen: Observation, place: int, token: int | None = None) -> LeakTest:
    """Exchange the token that the decoder reads at a place, and compare all logits.

    Without a token given, the unknown one is put there.
    """
    ids = list(seen.target_in.ids)
    if not 1 <= place < len(ids):
        raise InspectionError(
            f"there is no token {place} to exchange: choose 1 to {len(ids) - 1}"
        )
    before = ids[place]
    ids[place] = UNKNOWN if token is None else token
    changed = seen.run(ids, seen.interventions)
    return LeakTest(
        place=place,
        before=readable_piece(seen.tokenizer, before),
        after=readable_piece(seen.tokenizer, ids[place]),
        differences=(changed.logits - seen.logits).abs().amax(dim=1),
    )
