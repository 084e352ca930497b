from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import KernelError
from dragoman.kernels import compiling, instructions
from dragoman.kernels import library as module
from dragoman.kernels.compiling import compile_kernels, find_compiler
from dragoman.kernels.instructions import LEVELS, whole_processor
from dragoman.kernels.library import (
    Origin,
    cache_folder,
    found_kernels,
    kernels_origin,
    library,
)


@pytest.fixture(autouse=True)
def _nothing_loaded_yet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    monkeypatch.setenv("DRAGOMAN_KERNELS", "auto")
    monkeypatch.setattr(module, "PREBUILT", tmp_path / "prebuilt")
    found_kernels.cache_clear()
    yield
    found_kernels.cache_clear()


@pytest.fixture
def compiler() -> str:
    try:
        return find_compiler()
    except KernelError as error:
        pytest.skip(str(error))


@pytest.fixture
def prebuilt(compiler: str, tmp_path: Path) -> list[str]:
    """The levels of this processor that came along, the lowest first."""
    able = whole_processor().instructions
    levels = [level for level, needed in LEVELS.items() if needed <= able]
    module.PREBUILT.mkdir()
    for level in levels:
        work = tmp_path / level
        work.mkdir()
        compile_kernels(compiler, level, work).replace(module.PREBUILT / f"{level}.so")
    if not levels:
        pytest.skip("this processor has no level that kernels are built for")
    return levels


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")


def test_compiled_kernels_are_kept_for_the_next_run(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library()
    (kept,) = cache_folder().iterdir()
    assert kept.parent == tmp_path / "dragoman"
    before = kept.stat().st_mtime_ns
    found_kernels.cache_clear()
    library()
    assert [before] == [file.stat().st_mtime_ns for file in cache_folder().iterdir()]


def test_each_level_is_kept_beside_the_others(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    level = whole_processor().level
    if level is None:
        pytest.skip("this processor has no level that compilers know by name")
    for asked, built_for in (("auto", "native"), (level, level)):
        monkeypatch.setenv("DRAGOMAN_KERNELS", asked)
        found_kernels.cache_clear()
        assert library().sum_rows
        origin = kernels_origin()
        assert (origin.kind, origin.level) == ("compiled", built_for)
        assert compiler in origin.why
    assert len(list(cache_folder().iterdir())) == 2


def test_kernels_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_KERNELS", "plain")
    with pytest.raises(KernelError, match="DRAGOMAN_KERNELS=plain leaves them out"):
        library()
    why = "DRAGOMAN_KERNELS=plain leaves them out"
    assert kernels_origin() == Origin("plain", None, why)


def test_other_sources_are_compiled_anew(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sources = tmp_path / "sources"
    sources.mkdir()
    monkeypatch.setattr(compiling, "SOURCES", sources)
    for number in (1, 2):
        (sources / "one.c").write_text(f"int answer(void) {{ return {number}; }}\n")
        found_kernels.cache_clear()
        assert library().answer() == number


def test_a_folder_that_cannot_be_written_to_is_done_without(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert library().sum_rows


def test_a_machine_without_a_compiler_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_compiler(monkeypatch)
    with pytest.raises(KernelError, match="there is no C compiler 'no-such-compiler'"):
        library()
    origin = kernels_origin()
    assert (origin.kind, origin.level) == ("plain", None)
    assert "no-such-compiler" in origin.why


def test_a_compiler_that_fails_leaves_nothing_behind(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(compiling, "OPTIONS", ["-std=no-such-standard"])
    with pytest.raises(KernelError, match=r"failed \(.*no-such-standard"):
        library()
    assert list(cache_folder().iterdir()) == []


def test_a_damaged_library_is_told_of(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_folder().mkdir()
    kept = cache_folder() / f"kernels-{module._digest(compiler, 'native')}.so"
    kept.write_text("not a library")
    with pytest.raises(KernelError, match="cannot be loaded"):
        library()


def test_other_systems_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(KernelError, match="for Linux only, and this is darwin"):
        library()


def test_what_came_along_needs_no_compiler(
    prebuilt: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    no_compiler(monkeypatch)
    for asked in ("auto", *prebuilt):
        monkeypatch.setenv("DRAGOMAN_KERNELS", asked)
        found_kernels.cache_clear()
        assert library().sum_rows
        wanted = prebuilt[-1] if asked == "auto" else asked
        why = "they came along with this package"
        assert kernels_origin() == Origin("prebuilt", wanted, why)


def test_a_level_that_the_processor_lacks_is_never_taken(
    prebuilt: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_compiler(monkeypatch)
    weak = tmp_path / "cpuinfo"
    monkeypatch.setattr(instructions, "CPU_TABLE", weak)
    for number, level in enumerate(prebuilt):
        weak.write_text(f"flags : {' '.join(LEVELS[level])}\n")
        found_kernels.cache_clear()
        assert kernels_origin().level == prebuilt[number]
    weak.write_text("flags : fpu sse sse2\n")
    found_kernels.cache_clear()
    assert kernels_origin().kind == "plain"


def test_a_compiler_is_used_where_asked_for_or_where_what_came_along_is_damaged(
    prebuilt: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_KERNELS", "native")
    origin = kernels_origin()
    assert (origin.kind, origin.level) == ("compiled", "native")
    assert origin.why.endswith("DRAGOMAN_KERNELS=native")
    for level in prebuilt:
        (module.PREBUILT / f"{level}.so").write_text("not a library")
    monkeypatch.setenv("DRAGOMAN_KERNELS", "auto")
    found_kernels.cache_clear()
    origin = kernels_origin()
    assert (origin.kind, origin.level) == ("compiled", "native")
    assert "cannot be loaded" in origin.why
