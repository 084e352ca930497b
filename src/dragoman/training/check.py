"""The check before the first update: what the data is, and what training will cost."""

from torch import nn

from dragoman.config import Config
from dragoman.kernels.choice import products_are_narrow
from dragoman.model.flops import BatchShape
from dragoman.model.weights import count_parameters
from dragoman.training.batch_source import BatchSource
from dragoman.training.memory import training_memory, weightless
from dragoman.training.preparation import Prepared
from dragoman.training.preparation_report import PreparationReport
from dragoman.training.process_memory import peak_memory, resident_memory
from dragoman.training.progress import duration


def check_table(
    prepared: Prepared,
    objective: nn.Module,
    source: BatchSource,
    config: Config,
    seconds_per_token: float,
) -> str:
    """Lay out what was read and kept, the memory it takes and the time of an epoch."""
    report = prepared.report
    count = source.processes.count
    tokens = report.target_tokens + report.kept  # each pair ends with END
    seconds = seconds_per_token * tokens / count
    memory = f"{expected_memory(report, config, source) / 2**30:.1f} GiB"
    rows = [("model", f"{count_parameters(objective):,} parameters")]
    if products_are_narrow():
        rows.append(("products", "in bfloat16 (training.precision)"))
    rows += [
        ("estimated memory", memory if count == 1 else f"{count} × {memory}"),
        ("estimated time per epoch", duration(seconds)),
    ]
    if report.rejected:
        rows.append(("dropped pairs are in", str(prepared.rejected)))
    return report.table(rows)


def expected_memory(
    report: PreparationReport, config: Config, source: BatchSource
) -> float:
    """Give the most bytes that a process will hold, now that it has built its model."""
    model = weightless(config, report.target_vocabulary)
    shape = usual_batch(report, config.training.batch_tokens)
    parts = source.processes.count * source.parts
    held = training_memory(model, config, shape.share(parts))
    if source.device.type == "cuda":
        return held.total
    here = resident_memory() + held.total - held.weights  # the weights are here already
    return max(peak_memory(), here)


def usual_batch(report: PreparationReport, batch_tokens: int) -> BatchShape:
    """Give the shape of a full batch of sentences of mean length."""
    target = 1 + report.target_tokens / report.kept
    rows = max(1.0, batch_tokens / target)
    source = 1 + report.source_tokens / report.kept
    return BatchShape(rows, source, target, rows * target)
