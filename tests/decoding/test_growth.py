from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.decoding.beam import beam_search
from dragoman.decoding.options import SearchOptions
from dragoman.model.contract import TranslationModel
from dragoman.model.network import TranslationNetwork

Model = TranslationModel[Any, Any]
SENTENCES = [[4, 9, 5, 6, 7, 12, 15], [5], [6, 6, 8], [7, 4, 10, 9, 13], [11, 14]]
LENGTHS = torch.tensor([12, 9, 11, 3, 12])
BASE = SearchOptions.of(load_preset("base").decoding)


def tokens(found: list[list[Any]]) -> list[list[tuple[int, ...]]]:
    return [[hypothesis.tokens for hypothesis in row] for row in found]


def test_groups_that_need_not_differ_are_beams_of_their_own(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    source = pad(SENTENCES)
    apart = replace(BASE, beam_size=6, groups=3, diversity=0.0, nbest=2)
    alone = replace(BASE, beam_size=2, nbest=2)
    found = beam_search(trained, source, LENGTHS, apart)
    assert tokens(found) == tokens(beam_search(trained, source, LENGTHS, alone))


def test_a_group_avoids_what_an_earlier_one_has_just_said(
    constant: Callable[[Tensor], Any],
) -> None:
    logits = torch.tensor([0.0, 0.0, 0.0, -9.0, 5.0, 4.9, 4.7])
    options = replace(BASE, beam_size=3, groups=3, diversity=1.0, nbest=3)
    source = torch.tensor([[3]])
    [found] = beam_search(constant(logits), source, torch.tensor([1]), options)
    assert [hypothesis.tokens for hypothesis in found] == [(4,), (5,), (6,)]
    own = logits.double().log_softmax(dim=0)[[4, 5, 6]].tolist()
    assert [round(h.log_probability, 5) for h in found] == [round(v, 5) for v in own]


def test_diversity_makes_more_different_translations(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    def different(groups: int) -> int:
        options = replace(BASE, beam_size=4, groups=groups, diversity=2.0, nbest=4)
        found = tokens(beam_search(trained, pad(SENTENCES), LENGTHS, options))
        return sum(len({said[:1] for said in sentence}) for sentence in found)

    assert different(4) > different(1)


def test_batch_mates_change_nothing_and_equals_come_last(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    options = replace(BASE, beam_size=6, groups=3, diversity=0.3, nbest=6)
    together = beam_search(trained, pad(SENTENCES, extra=3), LENGTHS, options)
    for sentence, length, found in zip(SENTENCES, LENGTHS, together, strict=True):
        [alone] = beam_search(trained, pad([sentence]), length[None], options)
        assert [h.tokens for h in alone] == [h.tokens for h in found]
        said = [(h.tokens, h.finished) for h in found]
        firsts = [said.index(one) == place for place, one in enumerate(said)]
        assert firsts == sorted(firsts, reverse=True)
