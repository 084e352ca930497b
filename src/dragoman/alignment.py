"""Which word of a translation stands for which of its source, by a model's attention.

The head that aligns best was chosen on validation text when the model was trained, and
is named in its folder. A translation is read once more beside its source, whoever made
it, and each of its words is linked to the word that this head looks at most.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dragoman import durable
from dragoman.engines.batches import batches
from dragoman.errors import ModelFolderError
from dragoman.model_files import (
    ALIGNMENT,
    check_folder,
    read_checksums,
    write_checksums,
)
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.text.normalization import normalize
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.word_links import (
    Links,
    Unit,
    diagonal_links,
    equal_links,
    with_equal_units,
    word_units,
)
from dragoman.translator import Translator

if TYPE_CHECKING:
    from torch import Tensor

BATCH_TOKENS = 4000


@dataclass(frozen=True)
class AlignmentHead:
    """The head of the cross-attention that aligns best, and how well it does."""

    layer: int
    head: int
    score: float  # the share of words that it aligns as a statistical alignment does

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the choice that a model folder holds; None where it holds none."""
        if not folder.is_dir() or ALIGNMENT not in read_checksums(folder):
            return None
        try:
            values = json.loads((folder / ALIGNMENT).read_text("utf-8"))
            return cls(
                int(values["layer"]), int(values["head"]), float(values["score"])
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelFolderError(
                f"{folder / ALIGNMENT} does not name a head: copy the folder again"
            ) from error

    def write(self, folder: Path) -> None:
        """Add the choice to a model folder that is whole but for an earlier one."""
        check_folder(folder, besides=(ALIGNMENT,))
        listed = {folder / name for name in read_checksums(folder)}
        durable.write_text(folder / ALIGNMENT, json.dumps(asdict(self)) + "\n")
        write_checksums(folder, [*(listed | {folder / ALIGNMENT})])


class Aligner:
    """Links the words of translations to those of their sources."""

    def __init__(self, translator: Translator, head: AlignmentHead | None) -> None:
        self._translator = translator
        self._head = head

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Links]:
        """Give the source unit that each target unit of each pair stands for."""
        units = [(word_units(source), word_units(target)) for source, target in pairs]
        found: list[Links | None] = [equal_links(*both) for both in units]
        open_ones = [place for place, links in enumerate(found) if links is None]
        looked = self._look([pairs[place] for place in open_ones])
        for place, links in zip(open_ones, looked, strict=True):
            source, target = units[place]
            links = links or diagonal_links(source, target)
            if len(links) != len(target):
                links = diagonal_links(source, target)
            found[place] = with_equal_units(source, target, links)
        return [links or () for links in found]

    @cached_property
    def _cross_attention(self) -> Any:  # noqa: ANN401 (a module, once PyTorch is here)
        from dragoman.model.layers import DecoderLayer
        from dragoman.model.transformer import Transformer

        model = self._translator.saved.model
        if not isinstance(model, Transformer) or self._head is None:
            return None
        layers = model.decoder.layers
        if self._head.layer >= len(layers):
            return None
        layer = layers[self._head.layer]
        assert isinstance(layer, DecoderLayer)
        attention = layer.cross_attention
        return attention if self._head.head < attention.num_heads else None

    def _look(self, pairs: Sequence[tuple[str, str]]) -> list[Links | None]:
        """Ask the head; None where there is none, or it cannot be asked."""
        found: list[Links | None] = [None] * len(pairs)
        if not pairs or self._cross_attention is None:
            return found
        read = [self._read(*pair) for pair in pairs]
        longest = 2 * self._translator.config.data.max_tokens
        fit = [i for i, one in enumerate(read) if one.size <= longest and one.is_sound]
        longer = [max(read[i].source, read[i].target, key=len) for i in fit]
        for batch in batches(longer, BATCH_TOKENS):
            some = [read[fit[place]] for place in batch]
            for place, one, weights in zip(
                batch, some, self._weights(some), strict=True
            ):
                found[fit[place]] = one.links(weights)
        return found

    def _read(self, source: str, target: str) -> "_Read":
        form = self._translator.config.data.normalization
        tokenizers = self._translator.tokenizers
        return _Read.of(
            (tokenizers.source, normalize(source, form), len(word_units(source))),
            (tokenizers.target, normalize(target, form), len(word_units(target))),
        )

    def _weights(self, some: Sequence["_Read"]) -> "list[Tensor]":
        """Give the head's weights (target, source) for each pair of a batch."""
        import torch

        from dragoman.model.attention import attention_weights
        from dragoman.model.evaluating import evaluating

        assert self._head is not None
        model, attention = self._translator.saved.model, self._cross_attention
        seen: list[Tensor] = []

        def record(_: object, inputs: tuple[Any, ...]) -> None:
            queries, keys, _values, mask, _causal = inputs
            core = attention.attention
            weights = attention_weights(queries, keys, mask, scaling=core.scaling)
            seen.append(weights[:, self._head.head if self._head else 0])

        device = model.output_weight.device
        source = _padded([[*one.source, END] for one in some], device)
        target = _padded([[BEGIN, *one.target] for one in some], device)
        hook = attention.attention.register_forward_pre_hook(record)
        try:
            with torch.inference_mode(), evaluating(model):
                model.features(source, target)
        finally:
            hook.remove()
        [weights] = seen
        return [
            weights[row, : len(one.target), : len(one.source)].cpu()
            for row, one in enumerate(some)
        ]


@dataclass(frozen=True)
class _Read:
    """A pair in tokens, and the unit that each token belongs to."""

    source: list[int]
    target: list[int]
    source_units: list[int]
    target_units: list[int]
    counts: tuple[int, int]
    is_sound: bool  # whether normal forms have as many units as the texts themselves

    @classmethod
    def of(
        cls, source: tuple[Tokenizer, str, int], target: tuple[Tokenizer, str, int]
    ) -> Self:
        sides = []
        sound = True
        for tokenizer, text, count in (source, target):
            ids = tokenizer.encode(text)
            units = word_units(text)
            sound &= len(units) == count > 0 and bool(ids)
            sides.append((ids, _unit_of_tokens(tokenizer, ids, units), count))
        (a, units_a, count_a), (b, units_b, count_b) = sides
        return cls(a, b, units_a, units_b, (count_a, count_b), sound)

    @property
    def size(self) -> int:
        return max(len(self.source), len(self.target))

    def links(self, weights: "Tensor") -> Links:
        """Sum the weights over words, and take the word that is looked at most."""
        import torch

        rows = torch.zeros(self.counts[1], weights.shape[1])
        rows.index_add_(0, torch.tensor(self.target_units), weights.float())
        words = torch.zeros(self.counts)
        words.index_add_(0, torch.tensor(self.source_units), rows.T.contiguous())
        return tuple(words.argmax(dim=0).tolist())


def _unit_of_tokens(
    tokenizer: Tokenizer, ids: Sequence[int], units: Sequence[Unit]
) -> list[int]:
    """Say which unit each token belongs to: that in which its last character is."""
    found, unit = [], 0
    for place in range(len(ids)):
        end = len(tokenizer.decode(ids[: place + 1]))
        while unit < len(units) - 1 and units[unit].end < end:
            unit += 1
        found.append(unit)
    return found


def _padded(rows: Sequence[Sequence[int]], device: Any) -> "Tensor":  # noqa: ANN401
    import torch

    length = max(map(len, rows))
    filled = [[*row, *[PAD] * (length - len(row))] for row in rows]
    return torch.tensor(filled, device=device)
