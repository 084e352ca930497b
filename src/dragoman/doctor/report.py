"""An examination as one screen to read, and as plain data."""

import textwrap
from dataclasses import asdict
from typing import Any

from dragoman.doctor.advice import advice
from dragoman.doctor.examination import Examination

WIDTH = 88
LABEL = 11

# Of the many that Linux names: what products of matrices are made of.
SHOWN = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx_vnni",
    "avx512_vnni",
    "avx512_bf16",
    "amx_bf16",
    "asimd",
    "sve",
    "bf16",
)

Rows = list[tuple[str, str]]


def screen(found: Examination) -> str:
    """Lay an examination out as aligned rows."""
    rows = [*_machine_rows(found), *_software_rows(found), *_speed_rows(found)]
    hints = advice(found) or ["nothing is known to hold this machine back"]
    rows += [("faster" if hint is hints[0] else "", hint) for hint in hints]
    return "\n".join(_row(label, value) for label, value in rows)


def _row(label: str, value: str) -> str:
    return textwrap.fill(
        value,
        WIDTH,
        initial_indent=f"{label:<{LABEL}} ",
        subsequent_indent=" " * (LABEL + 3),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _machine_rows(found: Examination) -> Rows:
    cores, memory = found.cores, found.memory
    rows = [("processor", _processor(found)), ("cores", _cores(found))]
    if cores.load is not None:
        busy = "busy" if cores.busy else "not busy"
        rows.append(("load", f"{cores.load:.1f} over the last minute: {busy}"))
    if memory is not None:
        swap = f"{_gib(memory.swap_used)} of {_gib(memory.swap)} swap used"
        told = f"{_gib(memory.total)}, {_gib(memory.free)} free"
        rows.append(("memory", f"{told}; {swap if memory.swap else 'no swap'}"))
    return rows


def _processor(found: Examination) -> str:
    processor = found.processor
    has = [name for name in SHOWN if name in processor.instructions]
    level = f", {processor.level}" if processor.level else ""
    return f"{processor.name or 'unknown'}{level}: {' '.join(has) or 'not told'}"


def _cores(found: Examination) -> str:
    cores = found.cores
    if cores.usable == cores.present:
        return f"{cores.present}"
    limits = []
    if cores.allowed < cores.present:
        limits.append(f"{cores.allowed} allowed to this process")
    if cores.quota is not None:
        limits.append(f"{cores.quota:g} cores' time in this container")
    return f"{cores.present}, but {', '.join(limits)}"


def _software_rows(found: Examination) -> Rows:
    software, kernels = found.software, found.kernels
    threads = "1 thread" if software.threads == 1 else f"{software.threads} threads"
    level = f" for {kernels.level}" if kernels.level else ""
    rows = [
        (
            "dragoman",
            f"{software.dragoman} on Python {software.python}, {software.system}",
        ),
        ("torch", f"{software.torch}, {threads}; {software.device}"),
        ("kernels", f"{kernels.kind}{level}: {kernels.why}"),
        ("precision", f"{found.precision.kind}: {found.precision.why}"),
        ("engines", _engines(found)),
    ]
    here = [extra.name for extra in found.extras if extra.present]
    rows.append(("extras", ", ".join(here) or "none"))
    rows += [
        ("missing", f"{extra.name}: {extra.command}")
        for extra in found.extras
        if not extra.present
    ]
    if found.variables:
        told = " ".join(f"{name}={value}" for name, value in found.variables.items())
        rows.append(("variables", told))
    return rows


def _engines(found: Examination) -> str:
    here = [e for e in found.extras if e.name == "ctranslate2" and e.present]
    return "pytorch" + "".join(f", {e.name} {e.versions[e.name]}" for e in here)


def _speed_rows(found: Examination) -> Rows:
    speeds = found.speeds
    products = ", ".join(
        f"{flops / 1e9:,.0f} GFLOP/s in {kind}"
        for kind, flops in speeds.products.items()
    )
    learning = ", ".join(
        f"{preset} {_two_digits(tokens)}" for preset, tokens in speeds.learning.items()
    )
    rows = [("products", products)]
    if learning:
        rows.append(("training", f"{learning} target tokens/s, about"))
    if speeds.failure:
        rows.append(("training", f"could not be tried: {speeds.failure}"))
    return rows


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}"


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"


def plain_data(found: Examination) -> dict[str, Any]:
    """Give an examination as plain data for JSON."""
    extras = [
        {**asdict(extra), "present": extra.present, "command": extra.command}
        for extra in found.extras
    ]
    processor = found.processor
    return {
        **asdict(found),
        "processor": {
            "name": processor.name,
            "level": processor.level,
            "instructions": sorted(processor.instructions),
        },
        "cores": {**asdict(found.cores), "usable": found.cores.usable},
        "extras": extras,
        "advice": advice(found),
    }
