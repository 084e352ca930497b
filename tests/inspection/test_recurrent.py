"""Recurrent models are inspected too, as far as there is something to see."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from dragoman.errors import InspectionError
from dragoman.inspection.attribution import METHODS
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection, look
from dragoman.inspection.interventions import Ablation, Without
from dragoman.inspection.leaks import leak_test
from dragoman.inspection.numbers import to_dict, write_npz
from dragoman.inspection.summary import NO_ATTENTION, summary
from dragoman.inspection.walk_through import walk_through
from dragoman.inspection.why_attention import length_costs
from dragoman.model_folder import SavedModel, build_for
from dragoman.translator import Translator

SENTENCE = "Where is the station?"


@pytest.fixture(scope="module")
def looking(recurrent_folders: dict[str, Path]) -> Inspection:
    return inspect(
        Translator.load(recurrent_folders["lstm-attention"]), SENTENCE, "¿Dónde está?"
    )


@pytest.fixture(scope="module")
def blind(recurrent_folders: dict[str, Path]) -> Inspection:
    return inspect(Translator.load(recurrent_folders["gru"]), SENTENCE, "¿Dónde está?")


@pytest.fixture(params=["lstm-attention", "gru"])
def seen(request: pytest.FixtureRequest) -> Inspection:
    """An inspection of each."""
    name = "looking" if request.param == "lstm-attention" else "blind"
    found: Inspection = request.getfixturevalue(name)
    return found


def test_watching_changes_no_logit(seen: Inspection) -> None:
    source, target = torch.tensor([seen.source.ids]), torch.tensor([seen.target_in.ids])
    with torch.no_grad():
        assert torch.equal(seen.model(source, target)[0], seen.logits)
    assert not any(module._forward_hooks for module in seen.model.modules())


def test_each_prediction_looks_at_the_words_by_shares(looking: Inspection) -> None:
    weights = looking.attention("cross")
    shape = (1, 1, len(looking.target_out), len(looking.source))
    assert weights.shape == shape
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(shape[:3]))
    assert looking.capture.look is not None
    assert looking.capture.look.largest_error < 1e-5
    assert looking.attention("encoder").numel() == 0


def test_without_attention_one_line_says_so(
    looking: Inspection, blind: Inspection
) -> None:
    assert blind.attention("cross").numel() == 0
    assert NO_ATTENTION in summary(blind)
    assert "\n" not in NO_ATTENTION
    assert NO_ATTENTION not in summary(looking)
    assert "looks at" in summary(looking)


def test_the_search_and_the_alternatives_are_there(seen: Inspection) -> None:
    assert seen.beam.nodes
    assert len(seen.predictions(3)[0].alternatives) == 3
    assert leak_test(seen, 2).leak == 0
    assert json.loads(json.dumps(to_dict(seen)))["beam"]["nodes"]


def test_the_page_is_made(seen: Inspection) -> None:
    assert "</html>" in seen.to_html("a model")


def test_the_look_is_drawn_and_written(looking: Inspection, tmp_path: Path) -> None:
    looking.draw(tmp_path / "look.svg")
    assert (tmp_path / "look.svg").stat().st_size > 1000
    write_npz(looking, tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz") as arrays:
        assert arrays["cross.0.weights"].sum() == pytest.approx(
            len(looking.target_out), abs=1e-4
        )


def test_what_is_not_there_gets_one_line(
    looking: Inspection, blind: Inspection, tmp_path: Path
) -> None:
    refused = (
        (lambda: blind.draw(tmp_path / "a.svg"), "no attention at all"),
        (lambda: looking.draw(tmp_path / "a.svg", "encoder"), "one look per word"),
        (lambda: looking.intervene(Ablation("cross", 0, 0)), "has no heads"),
        (lambda: blind.intervene(Without("positions")), "has no heads"),
        (lambda: looking.without("mask"), "edit its scores"),
        (lambda: looking.set_temperature("cross", 0, 1, 2.0), "one look per word"),
        (lambda: looking.set_temperature("encoder", 0, 0, 2.0), "one look per word"),
        (lambda: looking.set_temperature("cross", 0, 0, 0.0), "choose one above 0"),
        (lambda: looking.edit("cross", 0, 0, 0, 99, 1.0), "there is no score at"),
        (lambda: blind.edit("cross", 0, 0, 0, 0, 1.0), "force a beginning or ask"),
        (lambda: looking.attributions(layer=1), "one look per word"),
        (lambda: blind.attributions(layer=0), "no attention at all"),
        (lambda: walk_through(looking, "cross", 0, 0, 0, 0), "has no heads"),
        (lambda: looking.head_profile([("a", "b")]), "choose a Transformer"),
        (lambda: length_costs(blind.translator), "choose a Transformer"),
    )
    for ask, message in refused:
        with pytest.raises(InspectionError, match=message) as raised:
            ask()
        assert "\n" not in str(raised.value)


def test_a_beginning_may_be_forced(recurrent_folders: dict[str, Path]) -> None:
    seen = inspect(Translator.load(recurrent_folders["gru"]), SENTENCE)
    assert seen.force("Hola").after.target_text.startswith("Hola")


@pytest.fixture(params=["dot", "general", "additive"])
def attentive(
    request: pytest.FixtureRequest, recurrent_folders: dict[str, Path]
) -> Inspection:
    """An inspection of a model that has learned nothing, by each kind of score."""
    learned = Translator.load(recurrent_folders["lstm-attention"]).saved
    config = learned.config.with_settings({"model.attention": request.param})
    torch.manual_seed(1)
    model = build_for(config, learned.tokenizers).eval()
    saved = SavedModel(model, learned.tokenizers, config, ("en", "es"))
    return inspect(Translator(saved, "cpu"), SENTENCE, "¿Dónde está?")


def test_what_is_shown_is_what_each_kind_of_attention_did(
    attentive: Inspection,
) -> None:
    look = attentive.capture.look
    assert look is not None
    assert look.largest_error < 1e-5
    torch.testing.assert_close(look.scores.softmax(dim=-1), look.weights)


def test_a_temperature_spreads_the_look(attentive: Inspection) -> None:
    same = attentive.set_temperature("cross", 0, 0, 1.0)
    torch.testing.assert_close(same.after.logits, attentive.logits)
    warm = attentive.set_temperature("cross", 0, 0, 1e6).after
    even = torch.full_like(warm.attention("cross"), 1 / len(attentive.source))
    torch.testing.assert_close(warm.attention("cross"), even)
    assert warm.capture.look is not None
    assert warm.capture.look.largest_error < 1e-5
    memory = warm.capture.memory
    assert memory is not None
    context = memory.mean(dim=0).expand_as(warm.capture.look.contexts)
    torch.testing.assert_close(warm.capture.look.contexts, context)
    assert not torch.allclose(warm.logits, attentive.logits)


def test_a_high_score_draws_the_whole_look(attentive: Inspection) -> None:
    change = attentive.edit("cross", 0, 0, query=1, key=2, value=50.0)
    before, after = attentive.capture.look, change.after.capture.look
    assert before is not None
    assert after is not None
    assert after.weights[1, 2] == pytest.approx(1.0)
    torch.testing.assert_close(after.contexts[1], after.words[2])
    others = [place for place in range(len(after.weights)) if place != 1]
    assert torch.equal(after.weights[others], before.weights[others])
    assert torch.allclose(change.delta[others], torch.zeros(len(others)), atol=1e-5)
    assert change.delta[1] != 0


def test_a_change_reaches_the_search_and_leaves_the_model_alone(
    attentive: Inspection,
) -> None:
    # A score set to what it was makes the search read everything anew, to the same end.
    seen = attentive.capture.look
    assert seen is not None
    beam = attentive.edit("cross", 0, 0, 0, 1, float(seen.scores[0, 1])).after.beam
    assert beam.result.tokens == attentive.beam.result.tokens
    warm = attentive.set_temperature("cross", 0, 0, 1e6).after
    found = warm.beam.result  # by steps, and here all places at once
    anew = look(
        warm.translator,
        warm.source.ids[:-1],
        found.tokens,
        interventions=warm.interventions,
    )
    said = anew.target_log_probabilities[: len(found.tokens)].double().sum()
    assert float(said) == pytest.approx(found.log_probability, abs=1e-3)
    ids = attentive.target_in.ids
    assert torch.equal(attentive.run(ids, ()).logits, attentive.logits)
    assert not any(module._forward_hooks for module in attentive.model.modules())


def test_attributions_need_no_heads(looking: Inspection, blind: Inspection) -> None:
    for seen, methods in ((looking, METHODS), (blind, METHODS[2:])):
        found = seen.attributions()
        assert tuple(found.by_method()) == methods
        for matrix in found.by_method().values():
            assert matrix.shape == (len(seen.target_out), len(seen.source))
            assert matrix.isfinite().all()
        assert found.agreement.shape == (len(methods), len(methods))
        assert all(parameter.grad is None for parameter in seen.model.parameters())
    shown = looking.attributions(layer=0, head=0)
    assert shown.attention is not None
    assert torch.equal(shown.attention, looking.attention("cross")[0, 0])
    assert shown.value_weighted is not None
    ones = torch.ones(len(looking.target_out))
    torch.testing.assert_close(shown.value_weighted.sum(dim=1), ones)


def scaled_word(seen: Inspection, place: int, factor: float) -> Tensor:
    """Give the log-probabilities where one embedded source word is made longer."""

    def scale(module: object, inputs: object, output: Tensor) -> Tensor:
        factors = torch.ones(output.shape[1], 1)
        factors[place] = factor
        return output * factors

    handle = seen.model.embed_source.register_forward_hook(scale)
    try:
        logits = seen.run(seen.target_in.ids, seen.interventions).logits.double()
    finally:
        handle.remove()
    tokens = torch.tensor(seen.target_out.ids)[:, None]
    return logits.log_softmax(dim=-1).gather(1, tokens)[:, 0]


def test_erasure_is_what_is_lost_when_a_word_is_read_as_zeros(
    seen: Inspection,
) -> None:
    erasure = seen.attributions().erasure
    for place in range(len(seen.source)):
        lost = seen.target_log_probabilities - scaled_word(seen, place, 0.0).float()
        torch.testing.assert_close(erasure[:, place], lost, rtol=1e-3, atol=1e-4)


def test_the_gradient_predicts_a_small_change_of_a_word(seen: Inspection) -> None:
    step, place = 1e-2, 1
    longer, shorter = (scaled_word(seen, place, 1 + s) for s in (step, -step))
    slope = ((longer - shorter) / (2 * step)).abs().float()
    shown = seen.attributions().gradient[:, place]
    torch.testing.assert_close(shown, slope, rtol=0.05, atol=2e-3)
