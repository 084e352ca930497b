"""Recurrent models are inspected too, as far as there is something to see."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.errors import InspectionError
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.interventions import Ablation, Without
from dragoman.inspection.leaks import leak_test
from dragoman.inspection.numbers import to_dict, write_npz
from dragoman.inspection.summary import NO_ATTENTION, summary
from dragoman.inspection.why_attention import length_costs
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
        (lambda: looking.attributions(), "no such heads"),
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
