import pytest

from dragoman.doctor.examination import Examination, Precision, Software, Speeds
from dragoman.doctor.extras import Extra
from dragoman.kernels.instructions import LEVELS, Processor
from dragoman.kernels.library import Origin
from dragoman.machine.cores import Cores
from dragoman.machine.memory import Memory


@pytest.fixture
def healthy() -> Examination:
    """A machine that nothing holds back."""
    return Examination(
        software=Software(
            "0.1.0", "3.11.2", "Linux 6.1, x86_64", "2.13.0+cpu", 2, "CPU"
        ),
        processor=Processor("A Processor", LEVELS["x86-64-v3"]),
        cores=Cores(present=2, allowed=2, quota=None, load=0.5),
        memory=Memory(total=8 * 2**30, free=6 * 2**30, swap=0, swap_used=0),
        kernels=Origin("compiled", "native", "by /usr/bin/cc"),
        precision=Precision("float32", "the processor has no instructions for it"),
        extras=(
            Extra("wordpiece", {"tokenizers": "0.22.1"}),
            Extra("ctranslate2", {"ctranslate2": "4.8.4"}),
        ),
        variables={},
        speeds=Speeds({"float32": 143e9}, {"tiny": 4210.0, "fast": 1612.0}),
    )
