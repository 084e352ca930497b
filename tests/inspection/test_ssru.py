"""A decoder of recurrent units is looked into like any other, where it has layers."""

import pytest
import torch

from dragoman.config import load_preset
from dragoman.errors import InspectionError
from dragoman.inspection.capture import capture
from dragoman.inspection.interventions import check_head
from dragoman.model.build import build_model
from dragoman.model.ssru import SSRUTransformer
from dragoman.special_tokens import BEGIN, END

SOURCE, TARGET_IN = [5, 6, 7, END], [BEGIN, 8, 9]


@pytest.fixture
def model() -> SSRUTransformer:
    torch.manual_seed(1)
    settings = {
        "model.kind": "ssru",
        "model.d_model": 16,
        "model.d_ff": 24,
        "model.num_heads": 2,
        "model.num_encoder_layers": 2,
        "model.num_decoder_layers": 2,
    }
    built = build_model(load_preset("base").with_settings(settings).model, 13)
    assert isinstance(built, SSRUTransformer)
    return built.eval()


def test_its_stream_is_followed_through_every_sublayer(model: SSRUTransformer) -> None:
    seen = capture(model, SOURCE, TARGET_IN)
    with torch.no_grad():
        logits = model(torch.tensor([SOURCE]), torch.tensor([TARGET_IN]))[0]
    torch.testing.assert_close(seen.logits, logits)
    decoder = [s.name for s in seen.sublayers if s.stack == "decoder"]
    assert decoder == ["recurrence", "cross-attention", "feed-forward"] * 2
    for earlier, later in zip(seen.sublayers[4:], seen.sublayers[5:], strict=False):
        assert torch.equal(earlier.after, later.before)


def test_it_attends_to_the_source_and_not_to_itself(model: SSRUTransformer) -> None:
    seen = capture(model, SOURCE, TARGET_IN)
    cross = seen.weights("cross")
    assert cross.shape == (2, 2, len(TARGET_IN), len(SOURCE))
    torch.testing.assert_close(cross.sum(-1), torch.ones(2, 2, len(TARGET_IN)))
    assert seen.weights("decoder").numel() == 0
    with pytest.raises(InspectionError, match="this model has encoder, cross"):
        check_head(model, "decoder", 0, 0)
