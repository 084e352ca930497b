from collections.abc import Iterator

import pytest
import torch

from dragoman.errors import ConfigError
from dragoman.kernels.choice import kernels_now
from dragoman.kernels.library import library
from dragoman.training.kernel_choice import chosen_kernels

CPU = torch.device("cpu")


@pytest.fixture
def _no_compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    library.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    yield
    library.cache_clear()


@pytest.mark.usefixtures("_no_compiler")
def test_without_a_compiler_training_goes_on_and_says_so() -> None:
    heard: list[str] = []
    with chosen_kernels("auto", CPU, heard.append):
        assert kernels_now() == "plain"
    assert heard == [
        "training goes slower without its kernels: there is no C compiler "
        "'no-such-compiler' (gcc would do)"
    ]


@pytest.mark.usefixtures("_no_compiler")
def test_kernels_that_were_asked_for_and_cannot_be_had_are_an_error() -> None:
    with (
        pytest.raises(ConfigError, match="install a C compiler such as gcc"),
        chosen_kernels("native", CPU, print),
    ):
        pass


def test_plain_is_plain_and_a_gpu_has_its_own() -> None:
    with chosen_kernels("plain", CPU, print):
        assert kernels_now() == "plain"
    with chosen_kernels("auto", torch.device("cuda"), print):
        assert kernels_now() == "plain"
