"""The check before the first update: what the data is, and what training will cost."""

from torch import nn

from dragoman.config import Config
from dragoman.model.weights import count_parameters
from dragoman.training.batch_source import BatchSource
from dragoman.training.preparation import Prepared
from dragoman.training.probe import measure_cost
from dragoman.training.progress import duration


def check_table(
    prepared: Prepared, objective: nn.Module, source: BatchSource, config: Config
) -> str:
    """Lay out what was read and kept, and memory and time as one batch shows them."""
    report = prepared.report
    count = source.processes.count
    cost = measure_cost(
        objective, source.probe(), config.training.batch_tokens // count
    )
    tokens = report.target_tokens + report.kept  # each pair ends with END
    memory = f"{cost.memory_bytes / 2**30:.1f} GiB"
    rows = [
        ("model", f"{count_parameters(objective):,} parameters"),
        ("estimated memory", memory if count == 1 else f"{count} × {memory}"),
        ("estimated time per epoch", duration(cost.seconds_per_token * tokens / count)),
    ]
    if report.rejected:
        rows.append(("dropped pairs are in", str(prepared.rejected)))
    return report.table(rows)
