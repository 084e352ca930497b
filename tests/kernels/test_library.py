import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import ConfigError, KernelError
from dragoman.kernels import library as module
from dragoman.kernels.library import cache_folder, find_compiler, library


@pytest.fixture(autouse=True)
def _nothing_loaded_yet() -> Iterator[None]:
    library.cache_clear()
    yield
    library.cache_clear()


@pytest.fixture
def compiler() -> str:
    try:
        return find_compiler()
    except KernelError as error:
        pytest.skip(str(error))


def test_compiled_kernels_are_kept_for_the_next_run(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library()
    (kept,) = cache_folder().iterdir()
    assert kept.parent == tmp_path / "dragoman"
    before = kept.stat().st_mtime_ns
    library.cache_clear()
    library()
    assert [kept.stat().st_mtime_ns] == [
        file.stat().st_mtime_ns for file in cache_folder().iterdir()
    ]
    assert kept.stat().st_mtime_ns == before


def test_kernels_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_KERNELS", "plain")
    with pytest.raises(KernelError, match="DRAGOMAN_KERNELS=plain leaves them out"):
        library()
    monkeypatch.setenv("DRAGOMAN_KERNELS", "fast")
    with pytest.raises(ConfigError, match="'fast' is neither auto nor plain: unset it"):
        library()


def test_other_sources_are_compiled_anew(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sources = tmp_path / "sources"
    sources.mkdir()
    monkeypatch.setattr(module, "SOURCES", sources)
    for number in (1, 2):
        (sources / "one.c").write_text(f"int answer(void) {{ return {number}; }}\n")
        library.cache_clear()
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
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(KernelError, match="there is no C compiler 'no-such-compiler'"):
        library()


def test_a_compiler_that_fails_is_quoted_in_one_line(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "OPTIONS", ["-std=no-such-standard"])
    with pytest.raises(KernelError, match=r"failed \(.*no-such-standard") as caught:
        library()
    assert "\n" not in str(caught.value)
    assert list(cache_folder().iterdir()) == []


def test_a_damaged_library_is_told_of(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_folder().mkdir()
    kept = cache_folder() / f"kernels-{module._digest(compiler)}.so"
    kept.write_text("not a library")
    with pytest.raises(KernelError, match="cannot be loaded"):
        library()


def test_other_systems_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(KernelError, match="on Linux only, and this is darwin"):
        library()


def test_the_sources_compile_without_a_warning(compiler: str, tmp_path: Path) -> None:
    sources = sorted(map(str, module.SOURCES.glob("*.c")))
    strict = ["-Wall", "-Wextra", "-Werror", "-o", str(tmp_path / "kernels.so"), "-lm"]
    command = [compiler, *module.OPTIONS, *sources, *strict]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
