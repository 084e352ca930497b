from dataclasses import replace

import torch

from dragoman.config import load_preset
from dragoman.data.batching import Batch
from dragoman.model.build import build_model
from dragoman.training.objective import Objective, passes

CONFIG = load_preset("tiny").with_settings(
    {"model.d_model": 16, "model.d_ff": 16, "model.dropout": 0.0}
)
BATCH = Batch(
    torch.tensor([[4, 5, 6, 3]]), torch.tensor([[2, 7, 8]]), torch.tensor([[7, 8, 3]])
)


def test_without_dropout_both_passes_agree() -> None:
    model = build_model(CONFIG.model, 12)
    once = Objective(model, CONFIG.training)(BATCH)
    twice = Objective(model, replace(CONFIG.training, r_drop=5.0))(BATCH)
    torch.testing.assert_close(twice.smoothed, once.smoothed, rtol=1e-5, atol=1e-5)
    assert twice.tokens == once.tokens == 3


def test_with_dropout_disagreement_is_dear() -> None:
    model = build_model(replace(CONFIG.model, dropout=0.3), 12)
    costs = []
    for alpha in (1e-9, 5.0):
        torch.manual_seed(1)
        settings = replace(CONFIG.training, r_drop=alpha)
        costs.append(float(Objective(model, settings)(BATCH).smoothed.detach()))
    assert costs[1] > costs[0] + 1e-3


def test_r_drop_begins_where_the_settings_say() -> None:
    model = build_model(replace(CONFIG.model, dropout=0.3), 12)
    later = Objective(model, replace(CONFIG.training, r_drop=5.0, r_drop_from=0.5))
    assert len(later.features(BATCH, 0.49)) == 1
    assert len(later.features(BATCH, 0.5)) == 2
    assert len(later.features(BATCH)) == 2, "what is not said is at the end of a run"
    torch.manual_seed(1)
    single = Objective(model, CONFIG.training)(BATCH).smoothed
    torch.manual_seed(1)
    assert torch.equal(later(BATCH, 0.49).smoothed, single)


def test_r_drop_passes_everything_twice() -> None:
    assert passes(CONFIG.training) == 1
    assert passes(replace(CONFIG.training, r_drop=1.0)) == 2
