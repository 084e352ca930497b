import pytest
import torch

from dragoman.errors import KernelError
from dragoman.kernels import choice
from dragoman.kernels.choice import (
    kernel_for,
    kernel_reads,
    kernels,
    kernels_at_work,
    kernels_if_any,
    kernels_now,
)

X = torch.zeros(2)


def test_outside_of_a_training_nothing_is_native() -> None:
    assert kernels_now() == "plain"
    assert not kernel_for(X)
    with pytest.raises(KernelError, match="no kernels are at work"):
        kernels()


@pytest.mark.usefixtures("at_work")
def test_they_are_for_learning_in_float32_on_a_cpu() -> None:
    assert kernels_now() == "native"
    assert kernel_for(X)
    assert not kernel_for(X.double())
    assert not kernel_for(X.to("meta"))
    with torch.no_grad():
        assert not kernel_for(X)
    with torch.autocast("cpu", torch.bfloat16):
        assert not kernel_for(X)


@pytest.mark.usefixtures("at_work")
def test_others_are_for_reading_in_float32_on_a_cpu() -> None:
    assert not kernel_reads(X)
    with torch.no_grad():
        assert kernel_reads(X)
        assert not kernel_reads(X.double())
        assert not kernel_reads(X.to("meta"))
    with torch.inference_mode():
        assert kernel_reads(X)


@pytest.mark.usefixtures("at_work")
def test_an_inner_training_leaves_the_outer_one_its_kernels() -> None:
    with kernels_at_work():
        pass
    assert kernels_now() == "native"


def test_a_search_does_without_kernels_that_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise KernelError("no compiler")

    monkeypatch.setattr(choice, "library", refuse)
    choice._found.cache_clear()
    with kernels_if_any():
        assert kernels_now() == "plain"
        with torch.no_grad():
            assert not kernel_reads(torch.zeros(1))
    choice._found.cache_clear()
