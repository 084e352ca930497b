import os

import pytest
import torch

from dragoman import __version__
from dragoman.doctor import examination
from dragoman.doctor.examination import PRESETS, examine
from dragoman.errors import ConfigError
from dragoman.kernels.instructions import Processor
from dragoman.planning import speed as speed_module


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_module, "MATRIX", 64)
    monkeypatch.setattr(speed_module, "MATRIX_SECONDS", 0.01)


def test_this_machine_is_seen_as_it_is() -> None:
    found = examine()
    assert found.software.dragoman == __version__
    assert found.software.torch == torch.__version__
    assert found.software.threads == torch.get_num_threads()
    assert found.cores.present == os.cpu_count()
    assert found.kernels.why
    assert set(found.speeds.learning) == set(PRESETS)
    assert all(speed > 0 for speed in found.speeds.learning.values())
    assert found.speeds.failure is None
    assert found.precision.kind in found.speeds.products


def failing(*_: object, **__: object) -> float:
    raise ConfigError("it cannot be done")


def test_what_cannot_be_tried_is_said_beside_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examination, "learning_speed", failing)
    found = examine()
    assert found.speeds.failure == "it cannot be done"
    assert found.speeds.products["float32"] > 0


ABLE, OTHER = Processor("", frozenset({"avx512_bf16"})), Processor("", frozenset())


@pytest.mark.parametrize(
    ("able", "whole", "fast", "kind", "why"),
    [
        (
            *(OTHER, OTHER, False, "float32"),
            "the processor has no instructions for bfloat16",
        ),
        (
            *(ABLE, ABLE, False, "float32"),
            "the processor names avx512_bf16, but a trial of it failed",
        ),
        (
            *(OTHER, ABLE, False, "float32"),
            "DRAGOMAN_KERNELS leaves out what bfloat16 needs",
        ),
        (ABLE, ABLE, True, "bfloat16", "the processor has avx512_bf16"),
    ],
)
def test_the_precision_is_explained(
    able: Processor,
    whole: Processor,
    fast: bool,
    kind: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examination, "bfloat16_is_fast", lambda: fast)
    monkeypatch.setattr(examination, "whole_processor", lambda: whole)
    precision = examination._precision(able)
    assert (precision.kind, precision.why) == (kind, why)


def test_variables_that_matter_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "learning_speed", lambda *_, **__: 1.0)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    monkeypatch.setenv("MKL_NUM_THREADS", "")
    found = examine()
    assert found.variables["ONEDNN_MAX_CPU_ISA"] == "AVX2"
    assert "MKL_NUM_THREADS" not in found.variables
