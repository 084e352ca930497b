from collections.abc import Iterator

import pytest

from dragoman.errors import KernelError
from dragoman.kernels.choice import kernels_at_work


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
