from collections.abc import Iterator

import pytest
import torch

from dragoman.config import TrainingConfig, load_preset
from dragoman.errors import ConfigError
from dragoman.kernels.choice import kernels_now
from dragoman.kernels.library import found_kernels
from dragoman.training import kernel_choice
from dragoman.training.kernel_choice import chosen_kernels

CPU = torch.device("cpu")


def settings(kernels: str = "auto", precision: str = "float32") -> TrainingConfig:
    asked = {"training.kernels": kernels, "training.precision": precision}
    return load_preset("base").with_settings(asked).training


@pytest.fixture
def _no_compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found_kernels.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    yield
    found_kernels.cache_clear()


@pytest.mark.usefixtures("_no_compiler")
def test_without_a_compiler_training_goes_on_and_says_so() -> None:
    heard: list[str] = []
    with chosen_kernels(settings(), CPU, heard.append):
        assert kernels_now() == "plain"
    assert heard == [
        "training goes slower without its kernels: there is no C compiler "
        "'no-such-compiler' (gcc would do)"
    ]


@pytest.mark.usefixtures("_no_compiler")
def test_kernels_that_were_asked_for_and_cannot_be_had_are_an_error() -> None:
    with (
        pytest.raises(ConfigError, match="install a C compiler such as gcc"),
        chosen_kernels(settings("native"), CPU, print),
    ):
        pass


def test_plain_is_plain_and_a_gpu_has_its_own() -> None:
    with chosen_kernels(settings("plain"), CPU, print):
        assert kernels_now() == "plain"
    with chosen_kernels(settings(), torch.device("cuda"), print):
        assert kernels_now() == "plain"


@pytest.mark.parametrize(
    ("precision", "fast", "kernels"),
    [
        ("float32", True, "native"),
        ("bfloat16", False, "bfloat16"),
        ("auto", True, "bfloat16"),
        ("auto", False, "native"),
    ],
)
def test_products_are_in_bfloat16_if_asked_for_or_if_that_is_fast(
    monkeypatch: pytest.MonkeyPatch, precision: str, fast: bool, kernels: str
) -> None:
    monkeypatch.setattr(kernel_choice, "library", lambda: None)
    monkeypatch.setattr("dragoman.kernels.choice.library", object)
    monkeypatch.setattr(kernel_choice, "bfloat16_is_fast", lambda: fast)
    with chosen_kernels(settings(precision=precision), CPU, print):
        assert kernels_now() == kernels
    assert kernels_now() == "plain"
