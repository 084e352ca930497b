from pathlib import Path

import pytest
import torch

import dragoman
from dragoman.errors import InspectionError, ModelFolderError
from dragoman.inspection.attention import KINDS
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.tokens import BEGIN_SIGN, END_SIGN
from dragoman.translator import Translator

SOURCE, TARGET = "Where is the train station?", "¿Dónde está la estación?"


def test_a_folder_a_saved_model_and_a_translator_show_the_same(
    model_folder: Path, toy: Translator
) -> None:
    first = dragoman.inspect(model_folder, SOURCE)
    for model in (str(model_folder), toy, toy.saved):
        again = dragoman.inspect(model, SOURCE)
        assert isinstance(again, Inspection)
        assert again.answer == first.answer
        assert torch.equal(again.logits, first.logits)


def test_without_a_target_the_models_own_translation_is_shown(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    [[best]] = toy.translate_nbest([SOURCE], 1)
    assert seen.target_text == best.text
    assert seen.target_out.pieces[:-1] == best.pieces
    assert seen.beam.result.tokens == seen.target_out.ids[:-1]
    shown = seen.target_log_probabilities[: len(best.piece_log_probabilities)]
    torch.testing.assert_close(shown, torch.tensor(best.piece_log_probabilities))


def test_a_wider_beam_can_be_asked_for(toy: Translator) -> None:
    assert inspect(toy, SOURCE, beam_size=7).beam.beam_size == 7
    assert inspect(toy, SOURCE, TARGET, beam_size=1).beam.beam_size == 1


def test_a_given_target_is_taken_as_it_is(toy: Translator) -> None:
    seen = inspect(toy, f" {SOURCE}\t", TARGET)
    assert (seen.source_text, seen.target_text) == (SOURCE, TARGET)
    assert seen.target_in.pieces == (BEGIN_SIGN, *seen.target_out.pieces[:-1])
    assert seen.target_out.pieces[-1] == seen.source.pieces[-1] == END_SIGN
    assert seen.beam.result.tokens == inspect(toy, SOURCE).target_out.ids[:-1]


def test_rows_and_columns_name_every_weight(translator: Translator) -> None:
    seen = inspect(translator, SOURCE, TARGET)
    for kind in KINDS:
        weights = seen.attention(kind)
        layers = 2 if kind == "encoder" else 3
        rows, columns = len(seen.rows(kind)), len(seen.columns(kind))
        assert weights.shape == (layers, 2, rows, columns)
    assert [s.name for s in seen.sublayers("encoder")[:2]] == [
        "self-attention",
        "feed-forward",
    ]
    assert [s.name for s in seen.sublayers("decoder")[3:6]] == [
        "self-attention",
        "cross-attention",
        "feed-forward",
    ]


def test_predictions_are_the_models_probabilities(toy: Translator) -> None:
    seen = inspect(toy, SOURCE, TARGET)
    probabilities = seen.logits.softmax(dim=-1)
    made = seen.predictions(5)
    assert [p.predicts for p in made] == list(seen.target_out.pieces)
    assert [p.reads for p in made] == list(seen.target_in.pieces)
    for place, prediction in enumerate(made):
        row = probabilities[place]
        assert prediction.probability == pytest.approx(float(row[prediction.token]))
        assert len(prediction.alternatives) == 5
        shown = [alternative.probability for alternative in prediction.alternatives]
        assert shown == pytest.approx(row.topk(5).values.tolist())
        better = int((row > row[prediction.token]).sum())
        assert prediction.rank == better + 1
    total = sum(prediction.log_probability for prediction in made)
    assert seen.log_probability == pytest.approx(total, abs=1e-5)


def test_a_blank_sentence_has_its_end_to_look_at(toy: Translator) -> None:
    for blank in ("", " "):
        seen = inspect(toy, blank)
        assert (seen.source.pieces, seen.target_out.pieces) == ((END_SIGN,),) * 2
        assert seen.attention("cross").eq(1).all()
        assert seen.beam.nodes


def test_more_than_the_model_was_trained_for_is_refused(toy: Translator) -> None:
    with pytest.raises(InspectionError) as raised:
        inspect(toy, "a " * 300)
    assert str(raised.value) == (
        "the sentence has 300 tokens and the model was trained on at most 256: "
        "inspect a part of it"
    )


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="there is no model folder"):
        inspect(tmp_path / "nothing", SOURCE)
