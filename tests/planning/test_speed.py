import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from dragoman.config import load_preset
from dragoman.planning import speed as speed_module
from dragoman.planning.speed import (
    LEAST_UPDATES,
    USUAL_UTILIZATION,
    measure_speed,
    product_speed,
    stated_speed,
)
from dragoman.planning.workload import stated_workload
from dragoman.training.learning_speed import random_batches

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_module, "MATRIX", 64)
    monkeypatch.setattr(speed_module, "MATRIX_SECONDS", 0.01)


def test_measuring_takes_a_few_updates_at_least() -> None:
    config = load_preset("tiny").with_settings({"training.batch_tokens": 50})
    workload = stated_workload(config, 100, None)
    batches = random_batches(workload.largest, 300, 50)
    speed = measure_speed(config, 300, batches, CPU, seconds=0.0)
    assert speed.origin == f"measured in {LEAST_UPDATES} updates"
    assert speed.flops > 0
    assert speed.utilization > 0
    assert speed.optimizer_seconds is not None
    assert speed.optimizer_seconds > 0


def test_a_product_is_counted_as_a_counter_counts_it() -> None:
    with FlopCounterMode(display=False) as counted:
        torch.randn(64, 64) @ torch.randn(64, 64)
    assert counted.get_total_flops() == 2 * 64**3
    assert product_speed(CPU) > 0


def test_a_stated_speed_is_taken_at_its_word() -> None:
    assert stated_speed(1e12, 0.5).utilization == 0.5
    assert stated_speed(1e12, None).utilization == USUAL_UTILIZATION
