"""What would make this machine faster, each in one line that says what to do."""

from collections.abc import Iterator

from dragoman.doctor.examination import Examination
from dragoman.kernels.instructions import LEVELS, VARIABLE

LITTLE_MEMORY = 2**30
HOLDING = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def advice(found: Examination) -> list[str]:
    """List what holds this machine back, the worst first."""
    return [
        *_about_cores(found),
        *_about_threads(found),
        *_about_kernels(found),
        *_about_variables(found),
        *_about_memory(found),
        *_about_extras(found),
    ]


def _about_cores(found: Examination) -> Iterator[str]:
    cores = found.cores
    if cores.busy:
        yield (
            f"other programs want the cores too ({cores.describe_load()}): end them, "
            "or give a training more minutes"
        )
    if cores.usable < cores.present:
        yield (
            f"this process may use {cores.usable:g} of {cores.present} cores: give its "
            "container or its taskset more"
        )


def _about_threads(found: Examination) -> Iterator[str]:
    threads, usable = found.software.threads, max(1, int(found.cores.usable))
    named = [
        f"{name}={found.variables[name]}" for name in THREADS if name in found.variables
    ]
    if threads < usable:
        unset = f": unset {' and '.join(named)}" if named else ""
        yield f"torch uses {threads} of {usable} cores{unset}"
    elif threads > usable:
        yield (
            f"torch runs {threads} threads, but only {usable} can work at once: set "
            f"OMP_NUM_THREADS={usable}"
        )


def _about_kernels(found: Examination) -> Iterator[str]:
    kernels = found.kernels
    if kernels.kind != "plain":
        return
    cure = ""
    if "no C compiler" in kernels.why:
        cure = ": install one, such as gcc, and they are compiled at the next start"
    elif VARIABLE in kernels.why:
        cure = ": unset it"
    yield f"the kernels are not used ({kernels.why}){cure}"


def _about_variables(found: Examination) -> Iterator[str]:
    held = [name for name in HOLDING if name in found.variables]
    if found.variables.get(VARIABLE) in LEVELS:
        held.append(VARIABLE)
    if held:
        yield f"{' and '.join(held)} may hold the processor back: unset what you can"


def _about_memory(found: Examination) -> Iterator[str]:
    memory = found.memory
    if memory is None:
        return
    if memory.free < LITTLE_MEMORY:
        yield (
            f"only {memory.free / 2**30:.1f} GiB of memory are free: end programs, or "
            "lower training.batch_tokens"
        )
    if memory.swap_used > memory.free:
        yield "memory is swapped out to the disk, which is slow: end programs"


def _about_extras(found: Examination) -> Iterator[str]:
    for extra in found.extras:
        if extra.name == "ctranslate2" and not extra.present:
            yield f"CTranslate2 translates about twice as fast: {extra.command}"
