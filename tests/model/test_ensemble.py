import torch

from dragoman.config import load_preset
from dragoman.model.build import build_model
from dragoman.model.ensemble import Ensemble
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END

SOURCE = torch.tensor([[4, 5, 6, END], [7, END, 0, 0]])
TARGET_IN = torch.tensor([[BEGIN, 5, 6], [BEGIN, 8, 4]])


def member(seed: int, d_model: int) -> TranslationNetwork:
    torch.manual_seed(seed)
    shape = {"model.d_model": d_model, "model.d_ff": 8, "model.num_heads": 2}
    config = load_preset("tiny").with_settings(shape)
    return build_model(config.model, 12).double().eval()


def test_probabilities_are_averaged() -> None:
    members = [member(1, 8), member(2, 16), member(3, 8)]
    both = Ensemble(members)(SOURCE, TARGET_IN).softmax(dim=-1)
    each = [one(SOURCE, TARGET_IN).softmax(dim=-1) for one in members]
    torch.testing.assert_close(both, sum(each) / 3)


def test_steps_equal_the_full_forward_through_reordering() -> None:
    ensemble = Ensemble([member(1, 8), member(2, 16)])
    full = ensemble(SOURCE, TARGET_IN)
    state = ensemble.start(ensemble.encode(SOURCE))
    logits, state = ensemble.step(TARGET_IN[:, 0], state)
    torch.testing.assert_close(logits, full[:, 0])
    state = state.reorder(torch.tensor([1, 0, 1]))
    logits, state = ensemble.step(TARGET_IN[[1, 0, 1], 1], state)
    torch.testing.assert_close(logits, full[[1, 0, 1], 1])


def test_a_model_with_itself_is_itself() -> None:
    one = member(1, 8)
    alone = one(SOURCE, TARGET_IN).log_softmax(dim=-1)
    torch.testing.assert_close(Ensemble([one, one])(SOURCE, TARGET_IN), alone)
