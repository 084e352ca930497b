import pytest
import torch

from dragoman.errors import InspectionError
from dragoman.inspection.attribution import METHODS, rank_correlation
from dragoman.inspection.capture import capture
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.special_tokens import PAD
from dragoman.translator import Translator


def test_all_four_are_target_by_source(seen: Inspection) -> None:
    shape = (len(seen.target_out), len(seen.source))
    found = seen.attributions()
    for matrix in found.by_method().values():
        assert matrix.shape == shape
        assert matrix.isfinite().all()
    assert found.attention is not None
    assert found.value_weighted is not None
    torch.testing.assert_close(found.attention.sum(dim=1), torch.ones(shape[0]))
    torch.testing.assert_close(found.value_weighted.sum(dim=1), torch.ones(shape[0]))
    mean = seen.attention("cross").mean(dim=(0, 1))
    torch.testing.assert_close(found.attention, mean)


def test_one_head_can_be_asked_about(seen: Inspection) -> None:
    found = seen.attributions(layer=1, head=0)
    torch.testing.assert_close(found.attention, seen.attention("cross")[1, 0])
    norms = seen.layers("cross")[1].value_norms[0]
    expected = norms / norms.sum(dim=1, keepdim=True)
    torch.testing.assert_close(found.value_weighted, expected)
    with pytest.raises(InspectionError, match="there is no layer 9"):
        seen.attributions(layer=9)


def test_erasure_is_what_is_lost_when_a_token_is_hidden(seen: Inspection) -> None:
    hidden = list(seen.source.ids)
    hidden[2] = PAD
    without = capture(seen.model, hidden, seen.target_in.ids).logits.log_softmax(dim=-1)
    tokens = torch.tensor(seen.target_out.ids)[:, None]
    lost = seen.target_log_probabilities - without.gather(1, tokens)[:, 0]
    torch.testing.assert_close(
        seen.attributions().erasure[:, 2], lost, rtol=1e-3, atol=1e-4
    )


def test_the_gradient_predicts_a_small_change_of_the_embedding(
    seen: Inspection,
) -> None:
    step, place, row = 1e-3, 1, 2

    def grown(factor: float) -> float:
        def grow(module: object, inputs: object, output: torch.Tensor) -> torch.Tensor:
            scales = torch.ones(output.shape[1], 1)
            scales[place] = factor
            return output * scales

        handle = seen.model.embed_source.register_forward_hook(grow)
        try:
            logits = capture(seen.model, seen.source.ids, seen.target_in.ids).logits
        finally:
            handle.remove()
        return float(logits.double().log_softmax(dim=-1)[row, seen.target_out.ids[row]])

    slope = (grown(1 + step) - grown(1 - step)) / (2 * step)
    shown = float(seen.attributions().gradient[row, place])
    assert shown == pytest.approx(abs(slope), rel=0.05, abs=2e-3)


def test_agreement_is_a_rank_correlation(seen: Inspection) -> None:
    agreement = seen.attributions().agreement
    assert agreement.shape == (len(METHODS), len(METHODS))
    torch.testing.assert_close(agreement, agreement.T)
    torch.testing.assert_close(agreement.diagonal(), torch.ones(len(METHODS)))
    assert agreement.abs().le(1 + 1e-6).all()


def test_rank_correlation_sees_order_alone() -> None:
    one = torch.tensor([[1.0, 5.0, 2.0, 9.0]])
    assert rank_correlation(one, one**3) == pytest.approx(1)
    assert rank_correlation(one, -one) == pytest.approx(-1)
    tied = torch.tensor([[1.0, 1.0, 2.0, 2.0]])
    # Pearson's correlation of the ranks 0 2 1 3 and .5 .5 2.5 2.5
    assert rank_correlation(one, tied) == pytest.approx(2 / 5**0.5 / 2, abs=1e-6)


def test_a_blank_sentence_has_attributions_too(toy: Translator) -> None:
    found = inspect(toy, "").attributions()
    assert found.erasure.tolist() == [[0.0]]
    assert found.agreement.eq(1).all()


def test_no_gradient_is_left_behind(seen: Inspection) -> None:
    seen.attributions()
    assert all(parameter.grad is None for parameter in seen.model.parameters())
