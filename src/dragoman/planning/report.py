"""A plan as a table to read, and as plain data."""

from typing import Any

from dragoman.planning.estimate import Plan
from dragoman.training.progress import duration

Rows = list[tuple[str, str]]


def size(count: float) -> str:
    """Give a number of bytes as people say it."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def plan_table(plan: Plan) -> str:
    """Lay a plan out as aligned rows."""
    rows = [
        *_model_rows(plan),
        *_corpus_rows(plan),
        *_work_rows(plan),
        *_memory_rows(plan),
        ("verdict", verdict(plan)),
    ]
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in rows)


def _model_rows(plan: Plan) -> Rows:
    model = plan.config.model
    shape = (
        f"{model.num_encoder_layers}+{model.num_decoder_layers} layers, d_model "
        f"{model.d_model}, d_ff {model.d_ff}, {model.num_heads} heads"
    )
    parts = ", ".join(f"{n:,} {name}" for name, n in plan.parameters.items() if n)
    return [
        ("preset", f"{plan.preset}: {plan.why}"),
        ("model", shape),
        ("parameters", f"{plan.num_parameters:,} ({parts})"),
    ]


def _corpus_rows(plan: Plan) -> Rows:
    load = plan.workload
    return [
        ("corpus", f"{load.pairs:,} pairs, {load.origin}"),
        (
            "tokens",
            f"{load.source_tokens:,.0f} source, {load.target_tokens:,.0f} target; "
            f"vocabulary {load.vocabulary:,}",
        ),
        (
            "run",
            f"{plan.updates:,.0f} updates of {plan.tokens_per_update:,.0f} target "
            f"tokens, {plan.epochs:.3g} epochs",
        ),
    ]


def _work_rows(plan: Plan) -> Rows:
    flops, machine = plan.batch_flops, plan.machine
    shares = ", ".join(
        f"{name} {part / flops.total:.0%}" for name, part in vars(flops).items()
    )
    speed = machine.speed
    processes = f"{machine.workers} × " if machine.workers > 1 else ""
    return [
        ("FLOPs per target token", f"{plan.flops_per_token:.3g} ({shares})"),
        ("FLOPs of the run", f"{plan.model_flops:.2g}, counted in the model"),
        (
            "",
            f"{plan.machine_flops:.2g}, as the paper counts: processes × time × FLOP/s",
        ),
        (
            "speed",
            f"{processes}{speed.flops:.3g} FLOP/s, {speed.utilization:.0%} of it used, "
            f"{speed.origin}: {plan.tokens_per_second:,.0f} target tokens/s",
        ),
        ("time", duration(plan.seconds)),
    ]


def _memory_rows(plan: Plan) -> Rows:
    parts = {"program": plan.machine.program, **plan.memory.parts()}
    rows = [("memory per process", f"{size(plan.memory_per_process)}")]
    rows += [(f"  {name}", size(held)) for name, held in parts.items()]
    if plan.machine.workers > 1:
        exchanged = 2 * plan.memory.gradients * (1 - 1 / plan.machine.workers)
        rows.append(("sent per update", f"{size(exchanged)} by each process"))
    return rows


def verdict(plan: Plan) -> str:
    """Say whether it fits and, where it does not, what to change."""
    limit = plan.machine.memory
    if limit is None:
        return "give --memory to learn whether it fits"
    if plan.fits:
        return f"fits into the {size(limit)} of a process"
    lacking = f"does not fit into the {size(limit)} of a process: "
    if plan.parts_that_fit is not None:
        return (
            f"{lacking}set training.accumulate={plan.parts_that_fit}, which learns "
            "the same from the batch in so many parts"
        )
    return f"{lacking}choose a smaller preset or vocabulary, or more memory"


def plan_data(plan: Plan) -> dict[str, Any]:
    """Give the plan as plain data for JSON."""
    load, machine, speed = plan.workload, plan.machine, plan.machine.speed
    return {
        "preset": plan.preset,
        "parameters": {"total": plan.num_parameters, **plan.parameters},
        "corpus": {
            "pairs": load.pairs,
            "source_tokens": load.source_tokens,
            "target_tokens": load.target_tokens,
            "vocabulary": load.vocabulary,
            "origin": load.origin,
        },
        "run": {
            "updates": plan.updates,
            "epochs": plan.epochs,
            "target_tokens_per_update": plan.tokens_per_update,
            "seconds": plan.seconds,
            "target_tokens_per_second": plan.tokens_per_second,
        },
        "flops": {
            "per_target_token": plan.flops_per_token,
            "update": {**vars(plan.update_flops), "optimizer": plan.optimizer_flops},
            "model": plan.model_flops,
            "machine": plan.machine_flops,
        },
        "machine": {
            "nodes": machine.nodes,
            "processes": machine.processes,
            "flops": speed.flops,
            "utilization": speed.utilization,
            "origin": speed.origin,
            "memory": machine.memory,
        },
        "memory": {
            "total": plan.memory_per_process,
            "program": machine.program,
            **plan.memory.parts(),
        },
        "fits": plan.fits,
        "verdict": verdict(plan),
    }
