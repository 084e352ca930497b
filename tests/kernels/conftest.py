from collections.abc import Iterator

import pytest

from dragoman.errors import KernelError
from dragoman.kernels import matrix_product
from dragoman.kernels.choice import kernels_at_work
from dragoman.kernels.instructions import Processor


@pytest.fixture
def at_work(in_ci: bool) -> Iterator[None]:
    """Compute with the kernels, where this machine can compile them."""
    try:
        kernels = kernels_at_work()
        kernels.__enter__()
    except KernelError as error:
        if in_ci:
            pytest.fail(str(error))
        pytest.skip(str(error))
    yield
    kernels.__exit__(None, None, None)


@pytest.fixture(params=["AMD", "Intel"])
def each_product(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Multiply as on processors of either maker, whatever this one is."""
    here = Processor(request.param, frozenset({"avx2", "fma"}))
    monkeypatch.setattr(matrix_product, "processor", lambda: here)
    matrix_product.ours_are_faster.cache_clear()
    yield
    matrix_product.ours_are_faster.cache_clear()
