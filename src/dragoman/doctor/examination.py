"""Looks at this machine once: what there is, what will be used, and how fast it is."""

import os
import platform
from dataclasses import dataclass

import torch

from dragoman import __version__
from dragoman.config import load_preset
from dragoman.doctor.extras import Extra, list_extras
from dragoman.errors import DragomanError
from dragoman.kernels.bfloat16 import INSTRUCTIONS, bfloat16_is_fast
from dragoman.kernels.choice import narrow_products
from dragoman.kernels.instructions import (
    VARIABLE,
    Processor,
    processor,
    whole_processor,
)
from dragoman.kernels.library import Origin, kernels_origin
from dragoman.machine.cores import Cores, cores_now
from dragoman.machine.memory import Memory, memory_now
from dragoman.model.device import choose_device
from dragoman.planning.speed import product_speed
from dragoman.training.learning_speed import learning_speed

PRESETS = ("tiny", "fast")
# Variables that hold libraries back; the doctor says which are set.
HELD_BACK_BY = (
    "ATEN_CPU_CAPABILITY",
    "ONEDNN_MAX_CPU_ISA",
    "MKL_ENABLE_INSTRUCTIONS",
    "CT2_FORCE_CPU_ISA",
    "DRAGOMAN_KERNELS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
)


@dataclass(frozen=True)
class Software:
    """What runs here: this package, Python, the system and torch."""

    dragoman: str
    python: str
    system: str
    torch: str
    threads: int
    device: str


@dataclass(frozen=True)
class Precision:
    """In which numbers matrices are multiplied when a preset leaves that open."""

    kind: str  # "bfloat16" or "float32"
    why: str


@dataclass(frozen=True)
class Speeds:
    """What was measured: FLOP/s of products, target tokens a second of presets."""

    products: dict[str, float]  # by precision
    learning: dict[str, float]  # by preset
    failure: str | None = None  # why presets could not be measured


@dataclass(frozen=True)
class Examination:
    """All that was found out about this machine."""

    software: Software
    processor: Processor
    cores: Cores
    memory: Memory | None
    kernels: Origin
    precision: Precision
    extras: tuple[Extra, ...]
    variables: dict[str, str]
    speeds: Speeds


def examine() -> Examination:
    """Look at this machine, and let it learn for a second or two."""
    cores, memory = cores_now(), memory_now()  # before measuring adds to the load
    device, precision = choose_device("auto"), _precision(processor())
    return Examination(
        software=Software(
            dragoman=__version__,
            python=platform.python_version(),
            system=f"{platform.system()} {platform.release()}, {platform.machine()}",
            torch=torch.__version__,
            threads=torch.get_num_threads(),
            device=_describe(device),
        ),
        processor=whole_processor(),
        cores=cores,
        memory=memory,
        kernels=kernels_origin(),
        precision=precision,
        extras=list_extras(),
        variables={
            name: os.environ[name] for name in HELD_BACK_BY if os.environ.get(name)
        },
        speeds=_measure(device, precision),
    )


def _describe(device: torch.device) -> str:
    if device.type == "cuda":
        return f"GPU {torch.cuda.get_device_name(device)}"
    return "CPU, torch finds no GPU"


def _precision(able: Processor) -> Precision:
    has = " and ".join(sorted(INSTRUCTIONS & able.instructions))
    if bfloat16_is_fast():
        return Precision("bfloat16", f"the processor has {has}")
    if has:
        why = f"the processor names {has}, but a trial of it failed"
        return Precision("float32", why)
    if INSTRUCTIONS & whole_processor().instructions:
        return Precision("float32", f"{VARIABLE} leaves out what bfloat16 needs")
    return Precision("float32", "the processor has no instructions for bfloat16")


def _measure(device: torch.device, precision: Precision) -> Speeds:
    products = {"float32": product_speed(device)}
    if precision.kind == "bfloat16":
        with narrow_products():
            products["bfloat16"] = product_speed(device)
    learning: dict[str, float] = {}
    try:
        for preset in PRESETS:
            learning[preset] = learning_speed(load_preset(preset), device, threads=0)
    except (DragomanError, RuntimeError) as error:  # said, so that the rest is seen
        return Speeds(products, learning, str(error).partition("\n")[0])
    return Speeds(products, learning)
