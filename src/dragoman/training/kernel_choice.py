"""Whether a run uses the compiled kernels."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import torch

from dragoman.errors import ConfigError, KernelError
from dragoman.kernels.choice import kernels_at_work
from dragoman.kernels.library import library


@contextmanager
def chosen_kernels(
    wanted: str, device: torch.device, warn: Callable[[str], None]
) -> Iterator[None]:
    """Put the kernels to work that `training.kernels` names.

    "auto" does without, and says so, where there is no compiler; a GPU has its own.
    """
    with kernels_at_work() if _can_be_had(wanted, device, warn) else nullcontext():
        yield


def _can_be_had(wanted: str, device: torch.device, warn: Callable[[str], None]) -> bool:
    if wanted == "plain" or (wanted == "auto" and device.type != "cpu"):
        return False
    try:
        library()
    except KernelError as error:
        if wanted == "native":
            raise ConfigError(
                f"training.kernels = 'native' was asked for, but {error}: install a C "
                "compiler such as gcc, or set training.kernels=auto"
            ) from error
        warn(f"training goes slower without its kernels: {error}")
        return False
    return True
