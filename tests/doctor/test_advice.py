from dataclasses import replace

import pytest

from dragoman.doctor.advice import advice
from dragoman.doctor.examination import Examination
from dragoman.doctor.extras import Extra
from dragoman.kernels.library import Origin
from dragoman.machine.cores import Cores
from dragoman.machine.memory import Memory

GIB = 2**30


def test_a_healthy_machine_needs_no_advice(healthy: Examination) -> None:
    assert advice(healthy) == []
    assert advice(replace(healthy, memory=None)) == []


def test_a_busy_machine_is_called_busy(healthy: Examination) -> None:
    busy = replace(healthy, cores=Cores(2, 2, None, 8.0))
    assert advice(busy) == [
        "other programs want the cores too (load 8.0 on 2 cores): end them, or give a "
        "training more minutes"
    ]


def test_limits_of_a_container_are_named_with_the_threads_that_fit(
    healthy: Examination,
) -> None:
    limited = replace(healthy, cores=Cores(2, 2, 1.5, 0.0))
    assert advice(limited) == [
        "this process may use 1.5 of 2 cores: give its container or its taskset more",
        "torch runs 2 threads, but only 1 can work at once: set OMP_NUM_THREADS=1",
    ]


def test_threads_left_out_are_counted(healthy: Examination) -> None:
    one = replace(healthy.software, threads=1)
    found = replace(healthy, software=one)
    assert advice(found) == ["torch uses 1 of 2 cores"]
    variables = {"OMP_NUM_THREADS": "1"}
    assert advice(replace(found, variables=variables)) == [
        "torch uses 1 of 2 cores: unset OMP_NUM_THREADS=1"
    ]


@pytest.mark.parametrize(
    ("why", "cure"),
    [
        (
            "there is no C compiler 'cc' (gcc would do)",
            ": install one, such as gcc, and they are compiled at the next start",
        ),
        ("DRAGOMAN_KERNELS=plain leaves them out", ": unset it"),
        ("kernels are for Linux only, and this is darwin", ""),
    ],
)
def test_missing_kernels_come_with_a_cure(
    healthy: Examination, why: str, cure: str
) -> None:
    found = replace(healthy, kernels=Origin("plain", None, why))
    assert advice(found) == [f"the kernels are not used ({why}){cure}"]


def test_variables_that_hold_back_are_named(healthy: Examination) -> None:
    held = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
    assert advice(replace(healthy, variables=held)) == [
        "ATEN_CPU_CAPABILITY and MKL_ENABLE_INSTRUCTIONS may hold the processor back: "
        "unset what you can"
    ]


def test_little_memory_is_said(healthy: Examination) -> None:
    short = Memory(total=4 * GIB, free=GIB // 2, swap=4 * GIB, swap_used=GIB)
    assert advice(replace(healthy, memory=short)) == [
        "only 0.5 GiB of memory are free: end programs, or lower training.batch_tokens",
        "memory is swapped out to the disk, which is slow: end programs",
    ]


def test_the_quicker_engine_is_recommended_where_it_is_missing(
    healthy: Examination,
) -> None:
    extras = (Extra("ctranslate2", {"ctranslate2": None}),)
    assert advice(replace(healthy, extras=extras)) == [
        "CTranslate2 translates about twice as fast: "
        "pip install 'dragoman[ctranslate2]'"
    ]


def test_kernels_held_to_a_level_are_held_back(healthy: Examination) -> None:
    held = {"DRAGOMAN_KERNELS": "x86-64-v2"}
    (line,) = advice(replace(healthy, variables=held))
    assert line.startswith("DRAGOMAN_KERNELS may hold the processor back")
    assert advice(replace(healthy, variables={"DRAGOMAN_KERNELS": "auto"})) == []
