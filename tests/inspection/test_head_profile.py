import pytest
import torch

from dragoman.errors import InspectionError
from dragoman.inspection.attention import KINDS
from dragoman.inspection.head_profile import head_profile
from dragoman.inspection.inspect import inspect
from dragoman.translator import Translator

PAIRS = [
    ("Good morning!", "¡Buenos días!"),
    ("Where is the train station?", "¿Dónde está la estación?"),
    ("Where are you?", "¿Dónde estás?"),
]


def test_figures_are_those_of_the_single_sentences(deep: Translator) -> None:
    profile = head_profile(deep, PAIRS[:1], ablation=False)
    seen = inspect(deep, *PAIRS[0])
    assert profile.num_pairs == 1
    assert profile.ablation_cost is None
    for kind in KINDS:
        weights = seen.attention(kind)
        entropy = -(weights * weights.clamp_min(1e-30).log()).sum(dim=-1).mean(dim=-1)
        torch.testing.assert_close(profile.entropy[kind], entropy)
        sink = weights[..., 0 if kind == "decoder" else -1].mean(dim=-1)
        torch.testing.assert_close(profile.sink[kind], sink)
        rows, columns = weights.shape[-2:]
        apart = torch.arange(columns)[None, :] - torch.arange(rows)[:, None]
        offset = (weights * apart).sum(dim=-1).mean(dim=-1)
        torch.testing.assert_close(profile.offset[kind], offset)


def test_the_cost_of_a_head_is_what_ablating_it_costs(toy: Translator) -> None:
    profile = head_profile(toy, PAIRS)
    assert profile.ablation_cost is not None
    before, after, tokens = 0.0, 0.0, 0
    for source, target in PAIRS:
        seen = inspect(toy, source, target)
        before -= seen.log_probability
        after -= seen.ablate("cross", 0, 1).after.log_probability
        tokens += len(seen.target_out)
    cost = float(profile.ablation_cost["cross"][0, 1])
    assert cost == pytest.approx((after - before) / tokens, abs=1e-4)


def test_the_best_aligning_head_is_the_one_with_the_highest_score(
    deep: Translator,
) -> None:
    done: list[tuple[int, int]] = []
    profile = head_profile(
        deep,
        PAIRS,
        aligned_on=PAIRS[:2],
        ablation=False,
        on_progress=lambda at, of: done.append((at, of)),
    )
    assert profile.alignment.shape == (3, 2)
    assert profile.alignment.ge(0).all()
    assert profile.alignment.le(1).all()
    best = profile.best_aligning
    assert best.score == float(profile.alignment.max())
    assert best.score == float(profile.alignment[best.layer, best.head])
    assert done == [(1, 3), (2, 3), (3, 3)]


def test_an_inspection_offers_the_profile_of_its_model(toy: Translator) -> None:
    offered = inspect(toy, *PAIRS[0]).head_profile(PAIRS, ablation=False)
    expected = head_profile(toy, PAIRS, ablation=False)
    torch.testing.assert_close(offered.alignment, expected.alignment)


def test_without_a_pair_there_is_nothing_to_measure(toy: Translator) -> None:
    for pairs in ([], [("", "nada")], [("a " * 300, "a")]):
        with pytest.raises(InspectionError) as raised:
            head_profile(toy, pairs)
        assert str(raised.value) == (
            "no sentence pair to measure heads on: give at least one"
        )
