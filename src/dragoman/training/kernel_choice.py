"""Which kernels a run uses."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

from dragoman.config import TrainingConfig
from dragoman.errors import ConfigError, KernelError
from dragoman.kernels.bfloat16 import bfloat16_is_fast
from dragoman.kernels.choice import kernels_named
from dragoman.kernels.library import library


def chosen_kernels(
    settings: TrainingConfig, device: torch.device, warn: Callable[[str], None]
) -> AbstractContextManager[None]:
    """Put the kernels to work that `training.kernels` and `.precision` name.

    "auto" does without kernels, and says so, where there is no compiler; a GPU has its
    own. For products it takes bfloat16 where the processor is made for that.
    """
    if not _can_be_had(settings.kernels, device, warn):
        return kernels_named("plain")
    match settings.precision:
        case "bfloat16":
            return kernels_named("bfloat16")
        case "auto" if bfloat16_is_fast():
            return kernels_named("bfloat16")
        case _:
            return kernels_named("native")


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
