"""Language models are looked into as translators are: by the same hooks, to the bit."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import dragoman
from dragoman.errors import ConfigError, InspectionError
from dragoman.inspection.attention import KINDS
from dragoman.inspection.attention_modules import attention_modules
from dragoman.inspection.capture import project
from dragoman.inspection.inspect import inspect
from dragoman.inspection.leaks import leak_test
from dragoman.inspection.logit_lens import logit_lens
from dragoman.inspection.numbers import to_dict, write_npz
from dragoman.inspection.recorded_attention import recorded_attention
from dragoman.inspection.summary import summary
from dragoman.inspection.text_inspection import (
    CONTINUED,
    ContinuedText,
    FilledText,
    TextInspection,
)
from dragoman.inspection.tokens import BEGIN_SIGN, END_SIGN
from dragoman.inspection.walk_through import walk_through
from dragoman.language_models.language_model import LanguageModel
from dragoman.language_models.masked_language_model import MaskedLanguageModel
from dragoman.special_tokens import BEGIN, END

TEXT, GAPPED = "Where is the station?", "Where is the [MASK] ?"
Reader = LanguageModel | MaskedLanguageModel


@pytest.fixture(scope="module")
def continued(language_model: LanguageModel) -> ContinuedText:
    seen = inspect(language_model, TEXT)
    assert isinstance(seen, ContinuedText)
    return seen


@pytest.fixture(scope="module")
def filled(masked_language_model: MaskedLanguageModel) -> FilledText:
    seen = inspect(masked_language_model, GAPPED)
    assert isinstance(seen, FilledText)
    return seen


@pytest.fixture(params=["continued", "filled"])
def seen(request: pytest.FixtureRequest) -> TextInspection:
    """A text as each kind of language model sees it."""
    found: TextInspection = request.getfixturevalue(request.param)
    return found


def test_watching_changes_no_logit(reader: Reader) -> None:
    seen = inspect(reader, GAPPED)
    ids = torch.tensor([seen.target_in.ids])
    with torch.no_grad():
        assert torch.equal(reader.model(ids, ids)[0], seen.logits)
    assert not any(module._forward_hooks for module in reader.model.modules())


def test_what_is_shown_is_what_the_model_did(reader: Reader) -> None:
    seen = inspect(reader, GAPPED)
    [kind] = [kind for kind in KINDS if seen.layers(kind)]
    assert kind == seen.first_kind
    assert len(seen.layers(kind)) == (3 if kind == "decoder" else 2)
    for attention in seen.layers(kind):
        size = max(1.0, float(attention.written.abs().max()))
        assert attention.largest_error < 1e-5 * size
        assert attention.weights[:, ~attention.mask].eq(0).all()
        assert attention.masked[:, ~attention.mask].isneginf().all()
    length = len(seen.target_in)
    whole = torch.ones(length, length, dtype=torch.bool)
    expected = whole.tril() if kind == "decoder" else whole
    assert torch.equal(seen.layers(kind)[0].mask, expected)


def test_the_weights_are_those_that_are_recorded_of_many(reader: Reader) -> None:
    seen = inspect(reader, GAPPED)
    ids = torch.tensor([seen.target_in.ids])
    with torch.no_grad(), recorded_attention(reader.model) as recorded:
        reader.model(ids, ids)
    for layer, weights in enumerate(seen.attention(seen.first_kind)):
        torch.testing.assert_close(recorded[seen.first_kind, layer][0], weights)


def test_the_stream_leads_from_the_embeddings_to_the_logits(reader: Reader) -> None:
    seen = inspect(reader, GAPPED)
    captured = seen.capture
    embedded = (captured.embedded_source, captured.embedded_target)
    [stream] = [x for x in embedded if x is not None]
    names = ["self-attention", "feed-forward"]
    assert [s.name for s in captured.sublayers] == names * (
        len(captured.sublayers) // 2
    )
    for sublayer in captured.sublayers:
        assert sublayer.before is stream
        stream = sublayer.after
    torch.testing.assert_close(project(seen.model, stream), seen.logits)
    last = logit_lens(seen)[-1].guesses
    best = seen.logits.argmax(dim=-1).tolist()
    assert [guess.token for guess in last] == best


def test_a_text_is_read_token_by_token_and_its_end_predicted(
    continued: ContinuedText, language_model: LanguageModel
) -> None:
    ids = tuple(language_model.encode(TEXT))
    assert continued.target_in.ids == (BEGIN, *ids)
    assert continued.target_out.ids == (*ids, END)
    assert continued.target_in.pieces[0] == BEGIN_SIGN
    assert continued.target_out.pieces[-1] == END_SIGN
    words = [word.text for word in continued.target_out.words]
    assert words == ["Where", "is", "the", "station", "?", END_SIGN]


def test_what_a_text_costs_is_its_perplexity(
    continued: ContinuedText, language_model: LanguageModel
) -> None:
    found = language_model.perplexity([TEXT])
    assert -continued.log_probability == pytest.approx(found.nats, rel=1e-5)
    assert math.exp(found.nats / found.tokens) == pytest.approx(found.per_token)
    assert f"perplexity {found.per_token:.2f}" in summary(continued)


def test_each_place_tells_what_it_expected_and_what_came(seen: TextInspection) -> None:
    probabilities = seen.logits.softmax(dim=-1)
    for place, made in enumerate(seen.predictions(4)):
        row = probabilities[place]
        assert made.token == seen.target_out.ids[place]
        assert made.probability == pytest.approx(float(row[made.token]))
        shown = [other.probability for other in made.alternatives]
        assert shown == pytest.approx(row.topk(4).values.tolist())


def test_lines_end_inside_a_text(language_model: LanguageModel) -> None:
    seen = inspect(language_model, f"{TEXT}\nGood")
    assert seen.target_out.pieces.count(END_SIGN) == 2
    assert seen.title == f"{TEXT}\nGood"


def test_the_text_goes_on_as_generate_goes_on(
    continued: ContinuedText, language_model: LanguageModel
) -> None:
    said = language_model.generate(TEXT, max_tokens=CONTINUED, top_k=1, one_line=True)
    assert continued.answer == said


def test_a_gap_holds_what_the_model_fills_it_with(
    filled: FilledText, masked_language_model: MaskedLanguageModel
) -> None:
    [[best]] = masked_language_model.fill(GAPPED, 1)
    assert filled.answer == best.text
    [gap] = filled.gaps
    assert filled.target_in.words[3].text == "[MASK]"
    assert (
        masked_language_model.tokenizer.decode([filled.target_out.ids[gap]])
        == best.word
    )
    others = [place for place in range(len(filled.target_in)) if place != gap]
    for place in others:
        assert filled.target_out.ids[place] == filled.target_in.ids[place]
    assert f"filled  {best.text}" in summary(filled)


def test_an_ablated_head_is_one_whose_rows_of_w_o_are_zero(
    seen: TextInspection,
) -> None:
    kind = seen.first_kind
    change = seen.ablate(kind, 1, 1)
    module = attention_modules(seen.model)[kind, 1]
    kept = module.output.weight.detach().clone()
    with torch.no_grad():
        module.output.weight[:, module.d_head :] = 0
        try:
            logits = seen.run(seen.target_in.ids, ()).logits
        finally:
            module.output.weight.copy_(kept)
    torch.testing.assert_close(change.after.logits, logits)
    assert not torch.equal(change.after.logits, seen.logits)
    torch.testing.assert_close(
        change.delta,
        change.after.target_log_probabilities - seen.target_log_probabilities,
    )
    assert str(change).startswith(f"without {kind} head 2 of layer 2: ")
    assert torch.equal(seen.run(seen.target_in.ids, ()).logits, seen.logits)


def test_scores_can_be_changed(seen: TextInspection) -> None:
    kind = seen.first_kind
    edited = seen.edit(kind, 1, 0, query=3, key=2, value=50.0).after
    assert edited.layers(kind)[1].weights[0, 3, 2] == pytest.approx(1.0)
    same = seen.set_temperature(kind, 0, 1, 1.0).after
    torch.testing.assert_close(same.logits, seen.logits)
    for attention in seen.without("scaling").after.layers(kind):
        assert torch.equal(attention.scaled, attention.scores)
    assert not torch.allclose(seen.without("positions").after.logits, seen.logits)


@pytest.mark.parametrize(
    ("name", "gap"), [("language_model", ""), ("masked_language_model", " [MASK]")]
)
def test_a_change_reaches_the_answer(
    request: pytest.FixtureRequest, name: str, gap: str
) -> None:
    # The toy may say the same of one text whatever is taken from it, but not of all.
    reader = request.getfixturevalue(name)
    texts = (f"{start}{gap} !" for start in ("Where is", "Good morning", "I am", "No"))
    assert any(_answer_changes(inspect(reader, text)) for text in texts)


def _answer_changes(seen: TextInspection) -> bool:
    changed = seen
    for (kind, layer), module in attention_modules(seen.model).items():
        for head in range(module.num_heads):
            changed = changed.ablate(kind, layer, head).after
    bare = changed.without("positions")
    assert bare.after.target_out == seen.target_out
    return bare.answer_after != seen.answer


def test_the_future_is_seen_without_the_mask_alone(
    continued: ContinuedText, filled: FilledText
) -> None:
    bare = continued.without("mask").after
    for place in range(1, len(continued.target_in)):
        assert leak_test(continued, place).leak == 0
        assert leak_test(bare, place).leak > 0
    assert leak_test(filled, 2).leak > 0  # it sees both sides, and may


def test_one_head_can_be_walked_through(seen: TextInspection) -> None:
    walked = walk_through(seen, seen.first_kind, 1, 0, query=2, key=1)
    weights = seen.attention(seen.first_kind)[1, 0, 2]
    assert torch.equal(walked.weights, weights)
    torch.testing.assert_close(walked.exponentials / walked.total, weights)


def test_everything_can_be_written(seen: TextInspection, tmp_path: Path) -> None:
    kind = seen.first_kind
    values = json.loads(json.dumps(to_dict(seen)))
    assert values["text"]["pieces"] == list(seen.target_in.pieces)
    assert values["predicted"]["ids"] == list(seen.target_out.ids)
    assert values["answer"] == seen.answer
    assert set(values["attention"]) == {kind}
    assert "beam" not in values
    write_npz(seen, tmp_path / "seen.npz")
    with np.load(tmp_path / "seen.npz", allow_pickle=False) as arrays:
        weights = seen.layers(kind)[1].weights.numpy()
        np.testing.assert_array_equal(arrays[f"{kind}.1.weights"], weights)
        assert f"{kind}.1.feed-forward.norm.mean" in arrays
        assert not any(name.startswith(("cross", "source")) for name in arrays)
    seen.draw(tmp_path / "seen.svg")
    assert (tmp_path / "seen.svg").stat().st_size > 1000


def test_a_page_shows_it_and_a_notebook_too(seen: TextInspection) -> None:
    page = seen.to_html("a model")
    assert f"<title>{seen.text} · Dragoman</title>" in page
    assert '"beam": null' in page
    assert seen._repr_html_().startswith("<iframe srcdoc=")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda lm, mlm: inspect(lm, TEXT).ablate("cross", 0, 0),
            "there is no attention of the kind 'cross': this model has decoder",
        ),
        (
            lambda lm, mlm: inspect(mlm, GAPPED).draw("a.svg", "cross"),
            "there is no attention of the kind 'cross': this model has encoder",
        ),
        (
            lambda lm, mlm: inspect(mlm, GAPPED).without("mask"),
            "a masked language model hides no place from another: there is no mask to "
            "take away; choose scaling or positions",
        ),
        (
            lambda lm, mlm: dragoman.inspect(lm, TEXT, "Dónde", beam_size=3),
            "a language model reads one text and searches for no translation: leave "
            "out the target and the beam",
        ),
        (
            lambda lm, mlm: inspect(lm, "a " * 30),
            "the text has 30 tokens and the model reads fewer than 24 at once: inspect "
            "a part of it",
        ),
    ],
)
def test_what_is_not_there_gets_one_line(
    ask: Callable[[LanguageModel, MaskedLanguageModel], object],
    message: str,
    language_model: LanguageModel,
    masked_language_model: MaskedLanguageModel,
) -> None:
    with pytest.raises(InspectionError) as raised:
        ask(language_model, masked_language_model)
    assert str(raised.value) == message


def test_too_long_a_text_for_an_encoder_is_said(
    masked_language_model: MaskedLanguageModel,
) -> None:
    with pytest.raises(ConfigError, match="does not fit into the 24"):
        inspect(masked_language_model, "a " * 30)


def test_a_folder_is_read_by_its_kind(text_folder: Path) -> None:
    loaded = MaskedLanguageModel.load(text_folder, "cpu")
    for model in (text_folder, str(text_folder), loaded.saved, loaded):
        again = dragoman.inspect(model, GAPPED)
        assert torch.equal(again.logits, inspect(loaded, GAPPED).logits)


def test_an_empty_text_has_its_end_to_look_at(
    language_model: LanguageModel, masked_language_model: MaskedLanguageModel
) -> None:
    for reader in (language_model, masked_language_model):
        seen = inspect(reader, " ")
        assert seen.target_out.pieces == (END_SIGN,)
        assert END_SIGN in summary(seen)
