"""The check before the first update: what the data is, and what training will cost."""

from dragoman.config import Config
from dragoman.model.transformer import Transformer
from dragoman.model.weights import count_parameters
from dragoman.training.batch_source import BatchSource
from dragoman.training.preparation import Prepared
from dragoman.training.probe import measure_cost
from dragoman.training.progress import duration


def check_table(
    prepared: Prepared, model: Transformer, source: BatchSource, config: Config
) -> str:
    """Lay out what was read and kept, and memory and time as one batch shows them."""
    report = prepared.report
    cost = measure_cost(model, source.probe(), config.training.batch_tokens)
    tokens = report.target_tokens + report.kept  # each pair ends with END
    rows = [
        ("model", f"{count_parameters(model):,} parameters"),
        ("estimated memory", f"{cost.memory_bytes / 2**30:.1f} GiB"),
        ("estimated time per epoch", duration(cost.seconds_per_token * tokens)),
    ]
    if report.rejected:
        rows.append(("dropped pairs are in", str(prepared.rejected)))
    return report.table(rows)
