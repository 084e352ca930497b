"""The arithmetic of a plan: from model, corpus and machine to FLOPs, bytes and time."""

from dataclasses import dataclass
from functools import reduce

from dragoman.config import Config
from dragoman.model.flops import Flops, training_flops
from dragoman.model.network import TranslationNetwork
from dragoman.planning.run_length import Pace, RunLength, run_length
from dragoman.planning.speed import Speed
from dragoman.planning.workload import Workload
from dragoman.training.budget import Budget
from dragoman.training.memory import Memory, training_memory, weightless
from dragoman.training.objective import passes
from dragoman.training.optimizer import Optimizer

MOST_PARTS = 1024


@dataclass(frozen=True)
class Machine:
    """What a run is given to run on."""

    speed: Speed  # of one process
    nodes: int
    processes: int  # on each node
    memory: float | None  # bytes that each process may take, if that is known
    program: float  # bytes that it takes before it holds a model

    @property
    def workers(self) -> int:
        """All processes, which divide each batch among them."""
        return self.nodes * self.processes


@dataclass(frozen=True)
class Plan:
    """What a training run will cost."""

    preset: str
    why: str
    config: Config
    workload: Workload
    machine: Machine
    parameters: dict[str, int]  # by part
    batch_flops: Flops  # forward and backward of a mean batch, all processes together
    optimizer_flops: float  # of an update, in each process
    length: RunLength
    seconds: float
    memory: Memory  # of one process
    parts_that_fit: int | None  # smallest training.accumulate that fits, if any does

    @property
    def num_parameters(self) -> int:
        """All parameters, each counted once."""
        return sum(self.parameters.values())

    @property
    def updates(self) -> float:
        """How often the weights change."""
        return self.length.updates

    @property
    def batches_per_update(self) -> float:
        """Batches that a mean update takes together."""
        return self.length.batches / self.length.updates

    @property
    def tokens_per_update(self) -> float:
        """Target tokens that a mean update learns from."""
        return self.batches_per_update * self.workload.tokens_per_batch

    @property
    def update_flops(self) -> Flops:
        """Forward and backward of a mean update, all processes together."""
        return self.batch_flops.times(self.batches_per_update)

    @property
    def flops_per_token(self) -> float:
        """FLOPs of forward and backward for each target token, source included."""
        return self.batch_flops.total / self.workload.tokens_per_batch

    @property
    def model_flops(self) -> float:
        """FLOPs that the run asks for: forward, backward and the optimizer's own."""
        own = self.machine.workers * self.optimizer_flops
        return self.length.batches * self.batch_flops.total + self.updates * own

    @property
    def machine_flops(self) -> float:
        """FLOPs as the paper counts them: processes × time × FLOP/s, used or not."""
        return self.machine.workers * self.machine.speed.flops * self.seconds

    @property
    def epochs(self) -> float:
        """Passes over the corpus."""
        return self.length.batches / self.workload.batches_per_epoch

    @property
    def tokens_per_second(self) -> float:
        """Target tokens learned from in a second, by all processes together."""
        return self.updates * self.tokens_per_update / self.seconds

    @property
    def memory_per_process(self) -> float:
        """Bytes of one process, the program itself included."""
        return self.machine.program + self.memory.total

    @property
    def fits(self) -> bool | None:
        """Whether a process has memory enough; None where nobody said."""
        limit = self.machine.memory
        return None if limit is None else self.memory_per_process <= limit


def estimate(
    preset: str,
    why: str,
    config: Config,
    workload: Workload,
    machine: Machine,
    budget: Budget,
) -> Plan:
    """Work out what a run will cost."""
    model = weightless(config, workload.vocabulary)
    of_batches = [
        training_flops(
            config.model, workload.vocabulary, batch.repeated(passes(config.training))
        )
        for batch in workload.batches
    ]
    batch = reduce(Flops.plus, of_batches).times(1 / len(of_batches))
    optimizer = Optimizer(model, config.training).muon.flops
    pace = pace_of(batch, optimizer, workload, machine)
    if not budget.given:
        budget = Budget(steps=config.training.max_steps)
    length = run_length(budget, config.training.batch_growth, pace)
    return Plan(
        preset=preset,
        why=why,
        config=config,
        workload=workload,
        machine=machine,
        parameters=count_by_part(model),
        batch_flops=batch,
        optimizer_flops=optimizer,
        length=length,
        seconds=length.seconds(pace),
        memory=memory_in_parts(
            model, config, workload, machine, config.training.accumulate
        ),
        parts_that_fit=fewest_parts(model, config, workload, machine),
    )


def pace_of(
    batch: Flops, optimizer: float, workload: Workload, machine: Machine
) -> Pace:
    """Give the time of a batch, divided, and of the optimizer in every process."""
    speed = machine.speed
    reached = speed.flops * speed.utilization
    step = speed.optimizer_seconds
    if step is None:
        step = optimizer / reached
    return Pace(
        batches_per_epoch=workload.batches_per_epoch,
        batch_seconds=batch.total / machine.workers / reached,
        optimizer_seconds=step,
    )


def memory_in_parts(
    model: TranslationNetwork,
    config: Config,
    workload: Workload,
    machine: Machine,
    parts: int,
) -> Memory:
    """Count a process's memory when its share of a batch is worked off in parts."""
    shape = workload.largest.share(machine.workers * parts)
    return training_memory(model, config, shape)


def fewest_parts(
    model: TranslationNetwork, config: Config, workload: Workload, machine: Machine
) -> int | None:
    """Find the smallest `training.accumulate`, a power of two, that memory allows."""
    parts = config.training.accumulate
    while machine.memory is not None and parts <= MOST_PARTS:
        held = memory_in_parts(model, config, workload, machine, parts).total
        if machine.program + held <= machine.memory:
            return parts
        parts *= 2
    return None


def count_by_part(model: TranslationNetwork) -> dict[str, int]:
    """Count parameters by where they are."""
    counts = {"embeddings": 0, "encoder": 0, "decoder": 0, "output": 0}
    homes = {
        "embed_source": "embeddings",
        "embed_target": "embeddings",
        "attention": "decoder",
        "joined": "decoder",  # of recurrent models
    }
    for name, parameter in model.named_parameters():
        head = name.partition(".")[0]
        part = "output" if head == "untied_output" else homes.get(head, head)
        counts[part] += parameter.numel()
    return counts
