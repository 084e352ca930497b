"""Where the network runs: chosen here, once."""

import torch

from dragoman.errors import ConfigError

DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str) -> torch.device:
    """Give the device of this name; "auto" is a GPU where there is one."""
    kind = name.partition(":")[0]
    if kind not in DEVICES:
        raise ConfigError(
            f"there is no device {name!r}: choose auto, cpu, cuda or, say, cuda:1"
        )
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if kind == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            f"the device {name!r} was asked for, but torch finds no GPU here: choose "
            "cpu, or install a torch that supports yours"
        )
    return torch.device(name)
