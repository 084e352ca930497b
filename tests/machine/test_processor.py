from pathlib import Path

import pytest

from dragoman.machine import processor as module
from dragoman.machine.processor import processor_here

X86 = """\
processor\t: 0
model name\t: AMD EPYC 7763 64-Core Processor
flags\t\t: fpu sse4_2 avx avx2 fma bmi2
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd bf16\n"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(module, "CPU_TABLE", file)
    return file


def test_a_processor_is_named_with_the_instructions_that_matter(table: Path) -> None:
    table.write_text(X86)
    found = processor_here()
    assert found.name == "AMD EPYC 7763 64-Core Processor"
    assert found.instructions == ("sse4_2", "avx", "avx2", "fma")


def test_arm_names_its_own(table: Path) -> None:
    table.write_text(ARM)
    found = processor_here()
    assert found.name
    assert found.instructions == ("asimd", "bf16")


def test_a_system_without_a_table_has_a_name_at_least(table: Path) -> None:
    assert not table.exists()
    assert processor_here().name
    assert processor_here().instructions == ()
