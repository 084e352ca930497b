"""What a person can do to a model: every action re-runs it, and leaves it as it was."""

from collections.abc import Callable

import pytest
import torch

from dragoman.errors import InspectionError
from dragoman.inspection.attention import KINDS, Kind
from dragoman.inspection.attention_modules import attention_modules
from dragoman.inspection.capture import capture
from dragoman.inspection.change import Change, DiffPart, word_diff
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.interventions import Ablation, Temperature, Without
from dragoman.inspection.leaks import leak_test
from dragoman.model.positions import NoPositions
from dragoman.model.relative_positions import NothingToTell
from dragoman.special_tokens import BEGIN, END
from dragoman.translator import Translator

SOURCE = "Where is the train station?"


@pytest.mark.parametrize("kind", KINDS)
def test_an_ablated_head_is_one_whose_rows_of_w_o_are_zero(
    seen: Inspection, kind: Kind
) -> None:
    change = seen.ablate(kind, 1, 1)
    module = attention_modules(seen.model)[kind, 1]
    kept = module.output.weight.detach().clone()
    d_head = module.inner // module.num_heads
    with torch.no_grad():
        module.output.weight[:, d_head:] = 0
        try:
            logits = capture(seen.model, seen.source.ids, seen.target_in.ids).logits
        finally:
            module.output.weight.copy_(kept)
    torch.testing.assert_close(change.after.logits, logits)
    assert not torch.equal(change.after.logits, seen.logits)
    assert change.after.layers(kind)[1].outputs[1].eq(0).all()
    assert change.after.layers(kind)[1].largest_error < 1e-5


def test_the_model_is_as_before_and_a_change_changes_its_copy_only(
    seen: Inspection,
) -> None:
    seen.ablate("cross", 0, 0)
    seen.without("mask")
    seen.without("positions")
    again = capture(seen.model, seen.source.ids, seen.target_in.ids)
    assert torch.equal(again.logits, seen.logits)
    assert seen.interventions == ()


def test_a_temperature_of_one_changes_nothing_and_a_high_one_spreads(
    seen: Inspection,
) -> None:
    same = seen.set_temperature("encoder", 1, 0, 1.0)
    torch.testing.assert_close(same.after.logits, seen.logits)
    warm = seen.set_temperature("encoder", 1, 0, 1e6).after.layers("encoder")[1]
    even = torch.full_like(warm.weights[0], 1 / len(seen.source))
    torch.testing.assert_close(warm.weights[0], even)
    torch.testing.assert_close(
        warm.weights[1], seen.layers("encoder")[1].weights[1], rtol=1e-4, atol=1e-5
    )


def test_a_high_score_draws_all_attention_to_one_place(seen: Inspection) -> None:
    edited = seen.edit("cross", 2, 1, query=3, key=2, value=50.0).after
    weights = edited.layers("cross")[2].weights
    assert weights[1, 3, 2] == pytest.approx(1.0)
    before = seen.layers("cross")[2].weights
    torch.testing.assert_close(weights[1, 4:], before[1, 4:])
    torch.testing.assert_close(edited.logits[:3], seen.logits[:3])
    assert not torch.allclose(edited.logits[3:], seen.logits[3:], atol=1e-3)


def test_without_scaling_the_scores_stay_as_they_are(seen: Inspection) -> None:
    for attention in seen.without("scaling").after.layers("encoder"):
        assert torch.equal(attention.scaled, attention.scores)
        assert attention.largest_error < 1e-4


def test_without_a_mask_the_future_is_seen_and_the_leak_test_says_so(
    seen: Inspection,
) -> None:
    bare = seen.without("mask").after
    assert bare.layers("decoder")[0].weights.gt(0).all()
    for place in range(1, len(seen.target_in)):
        assert leak_test(seen, place).leak == 0
        assert leak_test(bare, place).leak > 0


def test_without_positions_a_model_is_one_that_never_had_any(
    translator: Translator,
) -> None:
    seen = inspect(translator, SOURCE, "¿Dónde está la estación?")
    after = seen.without("positions").after
    model = seen.model
    embeds, stacks = (model.embed_source, model.embed_target), model.children()
    told = [stack for stack in stacks if hasattr(stack, "relative_positions")]
    with pytest.MonkeyPatch.context() as without:
        for embed in embeds:
            none = NoPositions(model.output_weight.shape[1])
            without.setitem(embed._modules, "positions", none)
        for stack in told:
            without.setitem(stack._modules, "relative_positions", NothingToTell())
        expected = capture(model, seen.source.ids, seen.target_in.ids).logits
    torch.testing.assert_close(after.logits, expected)


def test_actions_add_up(seen: Inspection) -> None:
    first = seen.ablate("cross", 0, 0).after
    both = first.set_temperature("decoder", 1, 1, 2.0).after
    assert both.interventions == (
        Ablation("cross", 0, 0),
        Temperature("decoder", 1, 1, 2.0),
    )
    other = seen.set_temperature("decoder", 1, 1, 2.0).after.ablate("cross", 0, 0)
    torch.testing.assert_close(both.logits, other.after.logits)


def test_a_change_says_what_it_did_to_each_token(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    change = seen.ablate("cross", 0, 1)
    after = change.after.logits.log_softmax(dim=-1)
    before = seen.logits.log_softmax(dim=-1)
    tokens = torch.tensor(seen.target_out.ids)[:, None]
    delta = (after - before).gather(1, tokens)[:, 0]
    torch.testing.assert_close(change.delta, delta)
    assert change.total == pytest.approx(float(delta.sum()), abs=1e-4)
    assert change.answer_before == toy.translate(SOURCE)
    assert change.answer_after == change.after.translation
    assert str(change).startswith("without cross head 2 of layer 1: ")


def test_an_intervention_reaches_the_translation(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    ablated = seen
    for head in range(2):
        for kind in KINDS:
            ablated = ablated.ablate(kind, 0, head).after
    module = attention_modules(seen.model)
    kept = {place: m.output.weight.detach().clone() for place, m in module.items()}
    with torch.no_grad():
        try:
            for attention in module.values():
                attention.output.weight.zero_()
            expected = toy.translate(SOURCE)
        finally:
            for place, attention in module.items():
                attention.output.weight.copy_(kept[place])
    assert ablated.translation == expected
    assert ablated.translation != seen.translation


def test_reading_the_whole_target_anew_changes_no_translation(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    score = float(seen.layers("cross")[0].scaled[1, 2, 1])
    assert seen.edit("cross", 0, 1, 2, 1, score).answer_after == seen.translation


def test_a_forced_beginning_is_gone_on_with(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    first = seen.predictions(3)[0].alternatives[1]
    change = seen.force([first.token])
    assert change.after.target_out.ids[0] == first.token
    assert change.answer_after == change.after.target_text
    node = change.after.beam.best_path[0]
    assert node.token_log_probability == pytest.approx(first.log_probability, abs=1e-5)
    assert change.after.log_probability == pytest.approx(
        change.after.beam.result.log_probability, abs=1e-3
    )


def test_forcing_what_the_model_says_anyway_changes_nothing(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    change = seen.force(seen.translation)
    assert change.answer_after.startswith(seen.translation)
    ids = seen.target_out.ids
    whole = seen.force(ids)  # its end too
    assert whole.after.target_out.ids == ids
    assert whole.delta.eq(0).all()
    assert whole.total == 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda seen: seen.ablate("self", 0, 0),
            "there is no attention of the kind 'self': this model has encoder, "
            "decoder, cross",
        ),
        (
            lambda seen: seen.ablate("cross", 3, 0),
            "there is no layer 3: cross attention has 3, counted from 0",
        ),
        (
            lambda seen: seen.ablate("encoder", 0, -1),
            "there is no head -1: each layer has 2, counted from 0",
        ),
        (
            lambda seen: seen.without("softmax"),
            "'softmax' cannot be taken away: choose scaling, mask or positions",
        ),
        (
            lambda seen: seen.set_temperature("cross", 0, 0, 0.0),
            "a temperature of 0 is not allowed: choose one above 0",
        ),
        (
            lambda seen: seen.edit("cross", 0, 0, 0, 0, float("nan")),
            "a score of nan is not allowed: choose a finite one",
        ),
        (
            lambda seen: seen.force([BEGIN]),
            "2 is no token that a translation can have: choose ids below 400, without "
            "those of padding and beginning",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    seen: Inspection, act: Callable[[Inspection], Change[Inspection]], message: str
) -> None:
    with pytest.raises(InspectionError) as raised:
        act(seen)
    assert str(raised.value) == message


def test_a_score_that_is_not_there_is_said(seen: Inspection) -> None:
    rows, columns = len(seen.target_out), len(seen.source)
    with pytest.raises(InspectionError) as raised:
        seen.edit("cross", 0, 0, rows, 0, 1.0)
    assert str(raised.value) == (
        f"there is no score at ({rows}, 0): there are {rows} queries and {columns} "
        "keys here, counted from 0"
    )


def test_translations_are_compared_word_by_word() -> None:
    assert word_diff("a b c d", "a x c d e") == (
        DiffPart("same", "a"),
        DiffPart("removed", "b"),
        DiffPart("added", "x"),
        DiffPart("same", "c d"),
        DiffPart("added", "e"),
    )
    assert word_diff("", "") == ()


def test_a_part_taken_away_twice_is_gone_once(seen: Inspection) -> None:
    once = seen.without("scaling").after
    twice = once.intervene(Without("scaling")).after
    assert torch.equal(once.logits, twice.logits)


def test_the_end_can_be_forced(toy: Translator) -> None:
    assert inspect(toy, SOURCE).force([END]).answer_after == ""
