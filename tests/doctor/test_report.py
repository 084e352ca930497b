import json
from dataclasses import replace

from dragoman.doctor.advice import advice
from dragoman.doctor.examination import Examination, Speeds
from dragoman.doctor.extras import Extra
from dragoman.doctor.report import WIDTH, plain_data, screen
from dragoman.kernels.instructions import Processor
from dragoman.machine.cores import Cores
from dragoman.machine.memory import Memory


def test_a_healthy_machine_fits_on_one_screen(healthy: Examination) -> None:
    assert screen(healthy).splitlines() == [
        "processor   A Processor, x86-64-v3: sse4_2 avx avx2 fma",
        "cores       2",
        "load        0.5 over the last minute: not busy",
        "memory      8.0 GiB, 6.0 GiB free; no swap",
        "dragoman    0.1.0 on Python 3.11.2, Linux 6.1, x86_64",
        "torch       2.13.0+cpu, 2 threads; CPU",
        "kernels     compiled for native: by /usr/bin/cc",
        "precision   float32: the processor has no instructions for it",
        "engines     pytorch, ctranslate2 4.8.4",
        "extras      wordpiece, ctranslate2",
        "products    143 GFLOP/s in float32",
        "training    tiny 4,200, fast 1,600 target tokens/s, about",
        "faster      nothing is known to hold this machine back",
    ]


def test_what_is_limited_or_missing_is_on_it(healthy: Examination) -> None:
    found = replace(
        healthy,
        cores=Cores(8, 4, 1.5, None),
        memory=Memory(2**30, 2**29, 2**30, 2**29),
        extras=(Extra("studio", {"starlette": None, "uvicorn": "0.30"}),),
        variables={"OMP_NUM_THREADS": "1"},
        speeds=Speeds({"float32": 1e9}, {}, "no compiler"),
    )
    lines = screen(found).splitlines()
    for line in (
        "cores       8, but 4 allowed to this process, 1.5 cores' time in this "
        "container",
        "memory      1.0 GiB, 0.5 GiB free; 0.5 GiB of 1.0 GiB swap used",
        "engines     pytorch",
        "extras      none",
        "missing     studio: pip install 'dragoman[studio]'",
        "variables   OMP_NUM_THREADS=1",
        "training    could not be tried: no compiler",
    ):
        assert line in lines
    assert not any(line.startswith("load") for line in lines)
    assert max(map(len, lines)) <= WIDTH


def test_the_advice_stands_at_the_end_one_line_each(healthy: Examination) -> None:
    one = replace(healthy.software, threads=1)
    found = replace(healthy, software=one, cores=Cores(2, 2, None, 9.0))
    text = screen(found)
    assert len(advice(found)) == 2
    assert "faster      other programs want the cores too" in text
    assert text.endswith("\n            torch uses 1 of 2 cores")


def test_plain_data_says_the_same(healthy: Examination) -> None:
    data = json.loads(json.dumps(plain_data(healthy)))
    assert data["processor"]["name"] == "A Processor"
    assert data["processor"]["level"] == "x86-64-v3"
    assert "avx2" in data["processor"]["instructions"]
    assert data["cores"]["usable"] == 2
    assert data["kernels"] == {
        "kind": "compiled",
        "level": "native",
        "why": "by /usr/bin/cc",
    }
    assert data["extras"][1]["present"] is True
    assert data["speeds"]["learning"]["fast"] == 1612.0
    assert data["advice"] == advice(healthy)


def test_a_processor_of_which_nothing_is_told_is_unknown(healthy: Examination) -> None:
    found = replace(healthy, processor=Processor("", frozenset()))
    assert screen(found).startswith("processor   unknown: not told\n")
