import signal

import pytest
import torch

from dragoman.errors import ConfigError
from dragoman.kernels.choice import narrow_products
from dragoman.training import precision
from dragoman.training.precision import computing, refuse_precision

CPU = torch.device("cpu")


def test_float32_is_always_to_be_had() -> None:
    refuse_precision("float32", CPU)
    with computing("float32", CPU):
        assert not torch.is_autocast_enabled("cpu")


def test_halves_are_used_within_and_nowhere_else() -> None:
    with computing("bfloat16", CPU):
        assert torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")


def test_float16_on_a_cpu_is_one_line() -> None:
    with pytest.raises(ConfigError, match="'float16' needs a GPU") as raised:
        refuse_precision("float16", CPU)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("outcome", "ended"), [(-signal.SIGILL, "SIGILL"), (3, "exit code 3")]
)
def test_a_processor_that_dies_of_bfloat16_is_one_line(
    monkeypatch: pytest.MonkeyPatch, outcome: int, ended: str
) -> None:
    monkeypatch.setattr(precision, "trial", lambda: outcome)
    with pytest.raises(ConfigError, match=ended) as raised:
        refuse_precision("bfloat16", CPU)
    assert "choose float32" in str(raised.value)
    assert "\n" not in str(raised.value)
    monkeypatch.setattr(precision, "trial", lambda: 0)
    refuse_precision("bfloat16", CPU)


@pytest.mark.parametrize("name", ["bfloat16", "auto"])
def test_kernels_with_narrow_products_need_no_mixed_precision(name: str) -> None:
    with narrow_products(), computing(name, CPU):
        assert not torch.is_autocast_enabled("cpu")


def test_what_is_left_open_is_float32_on_a_cpu_without_kernels() -> None:
    refuse_precision("auto", CPU)
    with computing("auto", CPU):
        assert not torch.is_autocast_enabled("cpu")


def test_a_gpu_without_bfloat16_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda: False)
    with pytest.raises(ConfigError, match="not known to this GPU"):
        refuse_precision("bfloat16", gpu)
    refuse_precision("float16", gpu)
