"""Waiting threads sleep soon, unless the environment says otherwise."""

import os
import subprocess
import sys

import pytest

from dragoman.thread_waiting import TURNS

SHOWN = "import os, {}; print(os.environ.get('GOMP_SPINCOUNT'))"


def spin_count(first_import: str, **environment: str) -> str:
    """Return what a fresh process has in its environment after these imports."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    }
    program = [sys.executable, "-c", SHOWN.format(first_import)]
    done = subprocess.run(
        program, env=bare | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_threads_are_told_before_torch_is_loaded() -> None:
    assert spin_count("dragoman") == TURNS


def test_it_is_too_late_once_torch_is_loaded() -> None:
    assert spin_count("torch, dragoman") == "None"


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_the_environment_has_the_last_word(name: str) -> None:
    told = {"GOMP_SPINCOUNT": "7", "OMP_WAIT_POLICY": "active"}[name]
    expected = "7" if name == "GOMP_SPINCOUNT" else "None"
    assert spin_count("dragoman", **{name: told}) == expected
