"""What each head does on the whole, measured over a set of sentence pairs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from dragoman.data.batching import Batch, make_batch
from dragoman.errors import InspectionError
from dragoman.inspection.attention import KINDS, Kind
from dragoman.inspection.attention_modules import attention_modules
from dragoman.inspection.interventions import Ablation, Intervention, intervening
from dragoman.inspection.recorded_attention import recorded_attention
from dragoman.inspection.tokens import Tokens, make_tokens, merge_attention
from dragoman.inspection.word_alignment import align_words
from dragoman.model.evaluating import evaluating
from dragoman.special_tokens import END, PAD
from dragoman.text.normalization import normalize
from dragoman.translator import Translator

Pair = tuple[str, str]
Ids = tuple[list[int], list[int]]
OnProgress = Callable[[int, int], None]  # told what is done, and of how much

SENTENCES_AT_ONCE = 16


@dataclass(frozen=True)
class BestHead:
    """The head that aligns best, and how well."""

    layer: int
    head: int
    score: float


@dataclass(frozen=True)
class HeadProfile:
    """One figure for each head; every tensor is (layer, head), by kind of attention.

    `entropy` is in nats; `offset` is the mean of key place − query place, weighted;
    `sink` is the mean weight on the end of the sentence (in the decoder's
    self-attention, on its beginning); `alignment` is the share of target words whose
    most attended source word is that of a statistical alignment; `ablation_cost` is
    how much more a target token costs, in nats, when the head gives nothing.
    """

    num_pairs: int
    entropy: dict[Kind, Tensor]
    offset: dict[Kind, Tensor]
    sink: dict[Kind, Tensor]
    alignment: Tensor  # of cross-attention
    ablation_cost: dict[Kind, Tensor] | None  # None: it was not asked for

    @cached_property
    def best_aligning(self) -> BestHead:
        """The cross-attention head that aligns best: the one to show by default."""
        heads = self.alignment.shape[1]
        layer, head = divmod(int(self.alignment.argmax()), heads)
        return BestHead(layer, head, float(self.alignment[layer, head]))


@dataclass(frozen=True)
class _Looked:
    """What one sentence pair adds to the profile."""

    source: Tokens
    target_out: Tokens
    weights: dict[Kind, Tensor]  # (layer, head, query, key)


def head_profile(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    aligned_on: Sequence[Pair] = (),
    ablation: bool = True,
    on_progress: OnProgress | None = None,
) -> HeadProfile:
    """Measure every head on sentence pairs.

    The statistical alignment is learned from these pairs and from `aligned_on`, which
    may be the training text: the more of it, the truer the alignment.
    """
    heads = _heads(translator)
    encoded = [ids for pair in pairs if (ids := _encode(translator, pair)) is not None]
    if not encoded:
        raise InspectionError("no sentence pair to measure heads on: give at least one")
    total = len(encoded) + len(heads) * ablation
    tell = on_progress or (lambda done, of: None)
    looked = []
    for ids in encoded:
        looked.append(_look(translator, ids))
        tell(len(looked), total)
    costs = None
    if ablation:
        costs = _ablation_costs(
            translator, encoded, lambda done: tell(len(encoded) + done, total)
        )
    more = [
        ids for pair in aligned_on if (ids := _encode(translator, pair)) is not None
    ]
    return HeadProfile(
        num_pairs=len(looked),
        entropy={kind: _mean(_entropies(looked, kind)) for kind in KINDS},
        offset={kind: _mean(_offsets(looked, kind)) for kind in KINDS},
        sink={kind: _mean(_sinks(looked, kind)) for kind in KINDS},
        alignment=_alignment(looked, [_words(translator, ids) for ids in more]),
        ablation_cost=costs,
    )


def _heads(translator: Translator) -> list[tuple[Kind, int, int]]:
    modules = attention_modules(translator.saved.model)
    if not modules:
        raise InspectionError(
            "this model has no attention heads to measure: choose a Transformer"
        )
    return [
        (kind, layer, head)
        for (kind, layer), module in modules.items()
        for head in range(module.num_heads)
    ]


def _encode(translator: Translator, pair: Pair) -> Ids | None:
    """Encode a pair; one that is empty or longer than what was trained is left out."""
    settings = translator.config.data
    source, target = (
        tokenizer.encode(normalize(text, settings.normalization))
        for tokenizer, text in zip(
            (translator.tokenizers.source, translator.tokenizers.target),
            pair,
            strict=True,
        )
    )
    fits = max(len(source), len(target)) <= settings.max_tokens
    return (source, target) if source and target and fits else None


def _look(translator: Translator, ids: Ids) -> _Looked:
    model = translator.saved.model
    [batch] = _batches(translator, [ids])
    with torch.no_grad(), evaluating(model), recorded_attention(model) as recorded:
        model.features(batch.source, batch.target_in)
    weights = {
        kind: torch.stack([w[0].cpu() for (of, _), w in recorded.items() if of == kind])
        for kind in KINDS
    }
    return _Looked(
        make_tokens(translator.tokenizers.source, [*ids[0], END]),
        make_tokens(translator.tokenizers.target, [*ids[1], END]),
        weights,
    )


def _words(translator: Translator, ids: Ids) -> tuple[list[str], list[str]]:
    tokenizers = translator.tokenizers
    source = make_tokens(tokenizers.source, ids[0])
    target = make_tokens(tokenizers.target, ids[1])
    return [w.text for w in source.words], [w.text for w in target.words]


def _mean(values: Iterator[Tensor]) -> Tensor:
    """Average (layer, head, query) over all queries of all sentences."""
    return torch.cat(list(values), dim=-1).mean(dim=-1)


def _entropies(looked: Sequence[_Looked], kind: Kind) -> Iterator[Tensor]:
    for one in looked:
        yield torch.special.entr(one.weights[kind]).sum(dim=-1)


def _offsets(looked: Sequence[_Looked], kind: Kind) -> Iterator[Tensor]:
    for one in looked:
        rows, columns = one.weights[kind].shape[-2:]
        mean_key = one.weights[kind] @ torch.arange(columns).float()
        yield mean_key - torch.arange(rows)


def _sinks(looked: Sequence[_Looked], kind: Kind) -> Iterator[Tensor]:
    for one in looked:
        yield one.weights[kind][..., 0 if kind == "decoder" else -1]


def _alignment(
    looked: Sequence[_Looked], more: Sequence[tuple[list[str], list[str]]]
) -> Tensor:
    """Count how often each head looks most at the word that the alignment names."""
    own = [
        (
            [word.text for word in one.source.words[:-1]],
            [word.text for word in one.target_out.words[:-1]],
        )
        for one in looked
    ]
    aligned = align_words([*own, *more])[: len(own)]
    hits = torch.zeros(looked[0].weights["cross"].shape[:2])
    total = 0
    for one, places in zip(looked, aligned, strict=True):
        words = merge_attention(one.weights["cross"], one.target_out, one.source)
        looked_at = words[..., :-1].argmax(dim=-1)  # the end of the sentence aside
        for number, place in enumerate(places):
            if place is not None:
                hits += looked_at[:, :, number] == place
                total += 1
    return hits / max(total, 1)


def _ablation_costs(
    translator: Translator, encoded: Sequence[Ids], tell: Callable[[int], None]
) -> dict[Kind, Tensor]:
    """Remove each head in turn and see what the text costs then."""
    heads = _heads(translator)
    batches = list(_batches(translator, encoded))
    before = _cost(translator, batches, ())
    costs: dict[Kind, Tensor] = {
        kind: torch.zeros(
            max(layer for of, layer, _ in heads if of == kind) + 1,
            max(head for of, _, head in heads if of == kind) + 1,
        )
        for kind in KINDS
    }
    for done, (kind, layer, head) in enumerate(heads, 1):
        after = _cost(translator, batches, [Ablation(kind, layer, head)])
        costs[kind][layer, head] = after - before
        tell(done)
    return costs


def _batches(translator: Translator, encoded: Sequence[Ids]) -> Iterator[Batch]:
    device = translator.saved.model.output_weight.device
    ordered = sorted(encoded, key=lambda ids: len(ids[0]))
    for start in range(0, len(ordered), SENTENCES_AT_ONCE):
        some = ordered[start : start + SENTENCES_AT_ONCE]
        sources = [np.asarray(source, np.int64) for source, _ in some]
        targets = [np.asarray(target, np.int64) for _, target in some]
        yield make_batch(sources, targets).to(device)


def _cost(
    translator: Translator,
    batches: Sequence[Batch],
    interventions: Sequence[Intervention],
) -> float:
    """Give the mean negative log-probability of a target token."""
    model = translator.saved.model
    cost, tokens = 0.0, 0
    with torch.no_grad(), evaluating(model), intervening(model, interventions):
        for batch in batches:
            logits = model(batch.source, batch.target_in).flatten(0, 1)
            wanted = batch.target_out.flatten()
            lost = torch.nn.functional.cross_entropy(
                logits, wanted, ignore_index=PAD, reduction="sum"
            )
            cost += float(lost)
            tokens += batch.num_target_tokens
    return cost / tokens
