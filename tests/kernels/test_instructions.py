from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.kernels import instructions
from dragoman.kernels.bfloat16 import bfloat16_is_fast
from dragoman.kernels.instructions import (
    LEVELS,
    Processor,
    asked_for,
    processor,
    whole_processor,
)
from dragoman.kernels.matrix_product import ours_are_faster

ZEN_5 = " ".join([*sorted(LEVELS["x86-64-v4"]), "fpu", "avx512_bf16", "avx_vnni"])
ZEN_3 = " ".join([*sorted(LEVELS["x86-64-v3"]), "fpu", "sse4a"])
TABLE = "processor : 0\nmodel name : AMD EPYC\nflags : {}\n\nprocessor : 1\n"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the system tells of its processors, to be written."""
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(instructions, "CPU_TABLE", file)
    return file


@pytest.mark.parametrize(
    ("able", "level"),
    [
        (ZEN_5, "x86-64-v4"),
        (ZEN_3, "x86-64-v3"),
        (ZEN_5.replace("avx512vl", ""), "x86-64-v3"),
        (ZEN_3.replace("fma", ""), "x86-64-v2"),
        ("fpu sse sse2", None),
        ("fp asimd crc32", "aarch64"),
        ("", None),
    ],
)
def test_a_level_is_one_that_is_had_whole(able: str, level: str | None) -> None:
    assert Processor("", frozenset(able.split())).level == level


def test_each_level_has_what_the_one_below_it_has() -> None:
    assert LEVELS["x86-64-v2"] < LEVELS["x86-64-v3"] < LEVELS["x86-64-v4"]


def test_the_system_tells_what_the_processor_is(table: Path) -> None:
    table.write_text(TABLE.format(ZEN_3))
    assert whole_processor() == Processor("AMD EPYC", frozenset(ZEN_3.split()))
    table.write_text("processor\t: 0\nFeatures\t: fp asimd evtstrm\n")
    assert whole_processor() == Processor("", frozenset({"fp", "asimd", "evtstrm"}))


def test_where_nothing_is_told_nothing_is_taken_for_granted(table: Path) -> None:
    assert not table.exists()
    assert whole_processor() == Processor("", frozenset())
    assert whole_processor().level is None


def test_a_level_held_to_hides_all_that_is_above_it(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.write_text(TABLE.format(ZEN_5))
    for asked in ("auto", "native", "plain", ""):
        monkeypatch.setenv("DRAGOMAN_KERNELS", asked)
        assert processor() == whole_processor()
    for asked in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        monkeypatch.setenv("DRAGOMAN_KERNELS", asked)
        assert processor().level == asked
        assert processor().name == "AMD EPYC"
        assert "avx512_bf16" not in processor().instructions


def test_who_multiplies_follows_the_level_held_to(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.write_text(TABLE.format(ZEN_5))
    monkeypatch.setattr("dragoman.kernels.bfloat16.trial", lambda: 0)
    for asked, narrow, ours in (
        ("auto", True, True),
        ("x86-64-v4", False, True),
        ("x86-64-v3", False, True),
        ("x86-64-v2", False, False),
    ):
        monkeypatch.setenv("DRAGOMAN_KERNELS", asked)
        assert bfloat16_is_fast.__wrapped__() is narrow
        assert ours_are_faster.__wrapped__() is ours


def test_a_level_that_the_processor_lacks_is_refused(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.write_text(TABLE.format(ZEN_3))
    monkeypatch.setenv("DRAGOMAN_KERNELS", "x86-64-v4")
    said = r"^DRAGOMAN_KERNELS=x86-64-v4 .* lacks \(avx512bw .*\): .* x86-64-v3$"
    with pytest.raises(ConfigError, match=said):
        processor()


def test_what_does_not_exist_cannot_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRAGOMAN_KERNELS", "fast")
    with pytest.raises(ConfigError, match=r"^DRAGOMAN_KERNELS='fast' is none of auto"):
        asked_for()
