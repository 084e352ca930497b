import pytest
import torch

from dragoman.config import load_preset
from dragoman.model.attention import ScaledDotProductAttention
from dragoman.model.build import build_model
from dragoman.model.dropout import Dropout
from dragoman.model.network import TranslationNetwork
from dragoman.training.dropout_growth import DropoutGrowth


def small_model() -> TranslationNetwork:
    config = load_preset("tiny").with_settings(
        {
            "model.dropout": 0.4,
            "model.attention_dropout": 0.2,
            "model.word_dropout": 0.1,
        }
    )
    return build_model(config.model, 20)


def rates(model: TranslationNetwork) -> tuple[set[float], set[float]]:
    return (
        {m.rate for m in model.modules() if isinstance(m, Dropout)} - {0.0},
        {
            m.dropout
            for m in model.modules()
            if isinstance(m, ScaledDotProductAttention)
        },
    )


@pytest.mark.parametrize(
    ("progress", "grown"), [(0.0, 0.0), (0.2, 0.5), (0.4, 1.0), (0.9, 1.0)]
)
def test_every_rate_grows_to_its_own_and_stays(progress: float, grown: float) -> None:
    model = small_model()
    growth = DropoutGrowth(model, share=0.4)
    growth.set(1.0)
    growth.set(progress)
    assert rates(model) == ({0.4 * grown, 0.1 * grown} - {0.0}, {0.2 * grown})


def test_without_growth_nothing_changes() -> None:
    model = small_model()
    DropoutGrowth(model, share=0.0).set(0.1)
    assert rates(model) == ({0.4, 0.1}, {0.2})


def test_at_the_beginning_nothing_is_dropped() -> None:
    model = small_model().train()
    DropoutGrowth(model, share=1.0).set(0.0)
    tokens = torch.randint(4, 20, (2, 5))
    assert torch.equal(model(tokens, tokens), model(tokens, tokens))
