"""What positions are for: their geometry, and what is left of order without them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.errors import InspectionError
from dragoman.inspection.inspection import Inspection, look
from dragoman.inspection.interventions import Without
from dragoman.inspection.translating import search
from dragoman.model.relative_positions import Rotary
from dragoman.model.transformer import Transformer
from dragoman.translator import Translator


def position_table(translator: Translator, length: int) -> Tensor:
    """Give what the source's embedding adds at each position (length, d_model).

    Where positions are rotary nothing is added: these are the sines and cosines of the
    angles by which queries and keys are turned (length, d_head). Columns 2i and 2i + 1
    turn dimensions i and i + d_head / 2.
    """
    model = translator.saved.model
    if not isinstance(model, Transformer):
        raise InspectionError("this model has no positions: it reads word after word")
    told = model.encoder.relative_positions
    source = told.angles if isinstance(told, Rotary) else model.embed_source.positions
    with torch.no_grad():
        table: Tensor = source(0, length)
    return table.to("cpu", torch.float32)


def similarity_by_distance(table: Tensor) -> Tensor:
    """Give the mean cosine between positions so many places apart (length)."""
    unit = table / table.norm(dim=1, keepdim=True).clamp_min(1e-12)
    cosines = unit @ unit.T
    return torch.stack([cosines.diagonal(k).mean() for k in range(len(table))])


@dataclass(frozen=True)
class Rotation:
    """The turn that carries PE(p) to PE(p + offset), whatever p is (§3.5)."""

    offset: int
    angles: Tensor  # (width / 2): one for each pair of dimensions, in radians
    errors: Tensor  # (positions): the largest |R PE(p) − PE(p + offset)|

    @property
    def largest_error(self) -> float:
        """The largest error over all positions."""
        return float(self.errors.max())


def rotation(table: Tensor, offset: int) -> Rotation:
    """Turn each pair of sinusoids by its own angle, and measure how well it fits."""
    length, width = table.shape
    if not 0 < offset < length:
        raise InspectionError(
            f"an offset of {offset} leads out of {length} positions: choose 1 to "
            f"{length - 1}"
        )
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    angles = offset * torch.exp(pairs * (-math.log(10000.0) / width))
    sines, cosines = table.double().unflatten(1, (-1, 2)).unbind(dim=-1)
    turned = torch.stack(
        (
            sines * angles.cos() + cosines * angles.sin(),
            cosines * angles.cos() - sines * angles.sin(),
        ),
        dim=-1,
    ).flatten(1)
    errors = (turned[:-offset] - table[offset:].double()).abs().amax(dim=1)
    return Rotation(offset, angles.float(), errors.float())


@dataclass(frozen=True)
class Reading:
    """What a model made of one order of the words."""

    source_text: str
    translation: str
    log_probability: float


@dataclass(frozen=True)
class Swap:
    """Two words exchanged, read with positions and without."""

    original: Reading
    swapped: Reading
    original_without: Reading
    swapped_without: Reading
    memory_change: float  # largest change of a word's encoding, found again by word
    memory_change_without: float  # the same without positions: rounding alone


def swap_words(inspection: Inspection, first: int, second: int) -> Swap:
    """Exchange two words of the source, and translate with and without positions."""
    words = inspection.source.words
    if not (0 <= first < len(words) - 1 and 0 <= second < len(words) - 1):
        raise InspectionError(
            f"words {first} and {second} cannot be exchanged: the sentence has "
            f"{len(words) - 1}, counted from 0"
        )
    order = list(range(len(words)))
    order[first], order[second] = second, first
    places = [p for word in order for p in range(words[word].start, words[word].end)]
    before = inspection.source.ids[:-1]
    after = tuple(inspection.source.ids[place] for place in places[:-1])
    nowhere = (Without("positions"),)
    return Swap(
        original=_read(inspection.translator, before),
        swapped=_read(inspection.translator, after),
        original_without=_read(inspection.translator, before, nowhere),
        swapped_without=_read(inspection.translator, after, nowhere),
        memory_change=_memory_change(inspection, after, places, ()),
        memory_change_without=_memory_change(inspection, after, places, nowhere),
    )


def _read(
    translator: Translator, source: Sequence[int], changes: Sequence[Without] = ()
) -> Reading:
    found = search(translator, source, None, changes).result
    tokenizers = translator.tokenizers
    return Reading(
        tokenizers.source.decode(source),
        tokenizers.target.decode(found.tokens),
        found.log_probability,
    )


def _memory_change(
    inspection: Inspection,
    swapped: Sequence[int],
    places: Sequence[int],
    changes: Sequence[Without],
) -> float:
    target = inspection.target_out.ids[:-1]
    memories = []
    for source in (inspection.source.ids[:-1], swapped):
        run = look(inspection.translator, source, target, interventions=changes)
        assert run.capture.memory is not None
        memories.append(run.capture.memory)
    return float((memories[1] - memories[0][list(places)]).abs().max())
