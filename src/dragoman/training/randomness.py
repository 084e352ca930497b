"""The random numbers of every process, kept so that a resumed run draws the same."""

from collections.abc import Mapping

import torch
from torch import Tensor

from dragoman.training.distributed import Processes

CPU, GPU = "random_state", "gpu_random_state"


def random_states(processes: Processes, device: torch.device) -> dict[str, Tensor]:
    """Name the states of all processes' generators."""
    return {
        _name(kind, rank): state
        for kind, own in own_states(device).items()
        for rank, state in enumerate(processes.gather(own))
    }


def restore_random_states(
    processes: Processes, device: torch.device, kept: Mapping[str, Tensor] | None
) -> None:
    """Take up the states that the first process has read, each its own.

    A process that was not there when they were kept goes on as it is.
    """
    kinds = own_states(device)
    every = {
        _name(kind, rank): state
        for kind, state in kinds.items()
        for rank in range(processes.count)
    }
    given = processes.hand_out(every, kept)
    names = {kind: _name(kind, processes.rank) for kind in kinds}
    take_up({kind: given[name] for kind, name in names.items() if name in given})


def take_up(states: Mapping[str, Tensor]) -> None:
    """Let this process's generators go on from states that `own_states` gave."""
    for kind, restore in ((CPU, torch.set_rng_state), (GPU, torch.cuda.set_rng_state)):
        if kind in states:
            restore(states[kind])


def own_states(device: torch.device) -> dict[str, Tensor]:
    """Name the states of this process's generators."""
    if device.type == "cuda":
        return {CPU: torch.get_rng_state(), GPU: torch.cuda.get_rng_state()}
    return {CPU: torch.get_rng_state()}


def _name(kind: str, rank: int) -> str:
    return f"{kind}.{rank}" if rank else kind
