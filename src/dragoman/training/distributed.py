"""Several processes that learn one model together; no other file knows how they talk.

torchrun starts them, on one machine or many, and tells each its rank. All hold the same
weights and read their own share of each batch; gradients are added up over all of them,
so that every process makes the same update. The first one alone writes and speaks.
"""

import json
import os
import secrets
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from dragoman.errors import TrainingError
from dragoman.model.layers import DecoderLayer
from dragoman.model.transformer import Transformer
from dragoman.training.objective import Objective

# A peer that is silent for this long in the midst of an update has vanished.
SILENCE = timedelta(minutes=30)
# Preparing a corpus or validating may keep the others waiting for much longer.
PATIENCE = timedelta(days=7)


@dataclass(frozen=True)
class Processes:
    """The processes of a run as one of them sees them; by itself, a run has one."""

    rank: int = 0
    count: int = 1
    local_rank: int = 0  # among those on this machine
    local_count: int = 1
    patient: dist.ProcessGroup | None = None

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    @property
    def first_here(self) -> bool:
        """Whether this is the first on its machine."""
        return self.local_rank == 0

    def shards(self, sharding: str) -> bool:
        """Whether each process holds a slice of the weights; a single one holds all."""
        return sharding == "full" and self.count > 1

    def place(self, device: torch.device) -> torch.device:
        """Give each process of a machine a GPU of its own."""
        if str(device) != "cuda" or self.count == 1:
            return device
        if self.local_rank >= torch.cuda.device_count():
            raise TrainingError(
                f"{self.local_count} processes were started on this machine, and it "
                f"has {torch.cuda.device_count()} GPUs: start one process for each"
            )
        torch.cuda.set_device(self.local_rank)
        return torch.device("cuda", self.local_rank)

    def threads(self, wanted: int) -> int:
        """Share the cores out; torchrun itself would leave each process one."""
        if wanted or self.count == 1:
            return wanted
        if not hasattr(os, "sched_getaffinity"):
            return max(1, (os.cpu_count() or 1) // self.local_count)
        return max(1, len(os.sched_getaffinity(0)) // self.local_count)

    def seed(self, seed: int) -> None:
        """Let each process drop out other elements than its fellows."""
        if not self.first:
            torch.manual_seed(seed + 1_000_003 * self.rank)

    def exchange(self, *numbers: float) -> Tensor:
        """Give all processes' numbers to each: a row for every rank, in order."""
        own = torch.tensor(numbers, dtype=torch.float64)
        if self.count == 1:
            return own[None]
        rows = [torch.empty_like(own) for _ in range(self.count)]
        dist.all_gather(rows, own)
        return torch.stack(rows)

    def wait(self) -> None:
        """Go on when all processes have come this far."""
        if self.count > 1:
            dist.barrier(self.patient)

    def tell(self, plain: Any) -> Any:  # noqa: ANN401 (whatever JSON can hold)
        """Give everyone the plain data that the first process has."""
        if self.count == 1:
            return plain
        text = torch.tensor(list(json.dumps(plain).encode()), dtype=torch.uint8)
        length = torch.tensor(len(text))
        dist.broadcast(length, 0, self.patient)
        if not self.first:
            text = torch.empty(int(length), dtype=torch.uint8)
        dist.broadcast(text, 0, self.patient)
        return json.loads(bytes(text.tolist()))

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Give all processes' tensors, of one shape, in order of rank."""
        if self.count == 1:
            return [tensor]
        gathered = [torch.empty_like(tensor) for _ in range(self.count)]
        dist.all_gather(gathered, tensor.contiguous())
        return gathered

    def hand_out(
        self, own: Mapping[str, Tensor], read: Mapping[str, Tensor] | None
    ) -> Mapping[str, Tensor]:
        """Give everyone the tensors that the first has read, laid out as their own."""
        if self.count == 1:
            assert read is not None, "the first process has read them"
            return read
        there = self.tell(None if read is None else [n for n in own if n in read])
        given = {}
        for name in there:
            tensor = own[name]
            copy = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
            if read is not None:
                copy.copy_(read[name])
            dist.broadcast(copy, 0)
            given[name] = _laid_out_as(tensor, copy)
        return given

    def spread(self, objective: Objective, sharding: str) -> nn.Module:
        """Make a backward pass add up the gradients of all processes."""
        if self.count == 1:
            return objective
        if self.shards(sharding):
            shard(objective)
            return objective
        with warnings.catch_warnings():
            # Buffers are tables of positions, which grow where sentences are long.
            # The newest torch has another word for leaving them alone, older ones not.
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                objective, broadcast_buffers=False, gradient_as_bucket_view=True
            )


def shard(objective: Objective) -> None:
    """Leave each process a slice of every weight, gathered layer by layer when needed.

    A decoder layer's attention to the source is used before the layer itself is, so it
    is gathered by itself.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    # It warns of changes in place to what a layer returns; there are none here.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)
    model = objective.model
    assert isinstance(model, Transformer), "the settings refuse to slice others"
    device = model.output_weight.device.type
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    for layer in model.encoder.layers:
        fully_shard(layer, mesh=mesh)
    for layer in model.decoder.layers:
        assert isinstance(layer, DecoderLayer)
        fully_shard(layer.cross_attention, mesh=mesh)
        for method in (
            "project_queries",
            "project_row_queries",
            "project_keys_values",
            "attend_rows",
        ):
            register_fsdp_forward_method(layer.cross_attention, method)
        fully_shard(layer, mesh=mesh)
        register_fsdp_forward_method(layer, "step")
    fully_shard(objective, mesh=mesh)


def whole(tensor: Tensor) -> Tensor:
    """Give a tensor of which each process may hold a slice; all must ask at once."""
    # Asked by name: to load the class itself takes a second that most runs can save.
    if hasattr(tensor, "full_tensor"):
        gathered: Tensor = tensor.full_tensor()
        return gathered
    return tensor


def _laid_out_as(own: Tensor, copy: Tensor) -> Tensor:
    if not hasattr(own, "full_tensor"):
        return copy
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(own, DTensor)
    # Every process has the whole copy, so none needs to be sent its slice.
    return distribute_tensor(copy, own.device_mesh, own.placements, src_data_rank=None)


def accumulating(objective: nn.Module, *, last: bool) -> AbstractContextManager[None]:
    """Keep gradients to this process until the last part of an update."""
    hold_back: Any = getattr(objective, "set_requires_gradient_sync", None)
    if hold_back is not None:  # where weights are sliced
        hold_back(last)
    if isinstance(objective, DistributedDataParallel) and not last:
        held_back: AbstractContextManager[None] = objective.no_sync()
        return held_back
    return nullcontext()


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """Join the processes that torchrun started, or be the only one."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1 or "RANK" not in os.environ:
        yield Processes()
        return
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    try:
        shared, rank, count = next(rendezvous("env://", timeout=SILENCE))
        store = fresh_store(shared, rank, count)
        dist.init_process_group(
            backend, store=store, rank=rank, world_size=count, timeout=SILENCE
        )
        patient = dist.new_group(backend="gloo", timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise TrainingError(
            f"the {count} processes of this run cannot reach each other "
            f"({_first_line(error)}): see docs/many-machines.md"
        ) from error
    try:
        yield Processes(
            rank=rank,
            count=count,
            local_rank=int(os.environ.get("LOCAL_RANK", "0")),
            local_count=int(os.environ.get("LOCAL_WORLD_SIZE", "1")),
            patient=patient,
        )
    except RuntimeError as error:
        if not _connection_lost(error):
            raise
        raise TrainingError(
            "another process of this run has ended: its own last words say why; the "
            "same command goes on, and torchrun --max-restarts does so by itself"
        ) from error
    finally:
        dist.destroy_process_group()


def fresh_store(shared: Store, rank: int, count: int) -> Store:
    """Give a part of the store in which processes find each other, new to all of them.

    torchrun keeps one store through all restarts. There a process may take the address
    of one that was killed for that of its successor, and wait for it in vain. So the
    first chooses a name that was never used, and tells it to those who ask now.
    """
    own = secrets.token_hex(8)
    if rank == 0:
        _answer_all(shared, own, count)
        return PrefixStore(own, shared)
    shared.set(f"asks/{rank}", own)
    chosen = shared.get(f"answer/{own}").decode()
    shared.set(f"heard/{chosen}/{rank}", "")
    return PrefixStore(chosen, shared)


def _answer_all(shared: Store, name: str, count: int) -> None:
    """Answer whoever asks, even those who are no more, until all have heard it."""
    waiting, ends = set(range(1, count)), time.monotonic() + SILENCE.total_seconds()
    while waiting:
        if time.monotonic() > ends:
            raise RuntimeError(f"process {min(waiting)} has not come")
        for rank in sorted(waiting):
            if shared.check([f"heard/{name}/{rank}"]):
                waiting.remove(rank)
            elif shared.check([f"asks/{rank}"]):
                shared.set(f"answer/{shared.get(f'asks/{rank}').decode()}", name)
        time.sleep(0.01)


def _connection_lost(error: RuntimeError) -> bool:
    signs = ("gloo", "Connection", "NCCL")
    return any(sign in str(error) for sign in signs)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
