"""An experiment's result as it lies in a folder: numbers, table and pictures."""

import csv
import io
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from dragoman import durable
from dragoman.errors import LabError
from dragoman.lab.drawing import draw
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Claim, Findings, Outcome, Table, outcome, verdict

RESULT = "result.json"
TABLE = "table.csv"
PLOTS = ("plot.svg", "plot.png")


@dataclass(frozen=True)
class Result:
    """What `result.json` says: all of an experiment but its picture."""

    name: str
    title: str
    question: str
    prediction: str
    why: str
    outcome: Outcome
    sentence: str
    claims: tuple[Claim, ...]
    table: Table
    caption: str
    note: str
    quick: bool
    seeds: int
    seconds: float
    measured: str  # when
    machine: Mapping[str, str]

    @classmethod
    def of(
        cls, experiment: Experiment, findings: Findings, bench: Bench, seconds: float
    ) -> Self:
        """Put what was asked and what was found together."""
        return cls(
            name=experiment.name,
            title=experiment.title,
            question=experiment.question,
            prediction=experiment.prediction,
            why=experiment.why,
            outcome=outcome(findings.claims),
            sentence=verdict(findings.claims),
            claims=findings.claims,
            table=findings.table.finite,
            caption=findings.caption,
            note=findings.note,
            quick=bench.quick,
            seeds=findings.seeds,
            seconds=round(seconds, 1),
            measured=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=this_machine(),
        )


def this_machine() -> dict[str, str]:
    """Say on what it was measured."""
    import torch

    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "dragoman": metadata.version("dragoman"),
    }


def write_result(folder: Path, result: Result, findings: Findings) -> None:
    """Write picture and table, and last the result, which says that all is there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    draw(findings.panels, [folder / name for name in PLOTS])
    durable.replace_text(folder / TABLE, csv_text(result.table))
    text = json.dumps(asdict(result), indent=2, ensure_ascii=False, allow_nan=False)
    durable.replace_text(folder / RESULT, text + "\n")


def read_result(folder: Path) -> Result | None:
    """Read a finished result; None where there is none."""
    path = folder / RESULT
    if not path.exists():
        return None
    try:
        values: dict[str, Any] = json.loads(path.read_text("utf-8"))
        table = values.pop("table")
        claims = tuple(Claim(**claim) for claim in values.pop("claims"))
        rows = tuple(tuple(row) for row in table["rows"])
        read = Result(
            claims=claims, table=Table(tuple(table["columns"]), rows), **values
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LabError(
            f"{path} is not a result of this lab: measure it again with "
            f"`dragoman lab {folder.name} --again`, or remove it"
        ) from error
    return read


def csv_text(table: Table) -> str:
    """Give a table as comma-separated values; a number that is not there is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def plain_table(table: Table) -> str:
    """Give a table as aligned text."""
    cells = [table.columns, *([cell_text(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numbers = [
        all(not isinstance(row[place], str) for row in table.rows)
        for place in range(len(table.columns))
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        ).rstrip()
        for line in cells
    )


def cell_text(cell: str | int | float | None) -> str:
    """Give a cell as people read it."""
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
