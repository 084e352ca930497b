import os
from pathlib import Path

import pytest

from dragoman.machine import cores as module
from dragoman.machine.cores import Cores, cores_now


def test_this_machine_has_cores_and_this_process_some_of_them() -> None:
    cores = cores_now()
    assert cores.present == os.cpu_count()
    assert 1 <= cores.allowed <= cores.present
    assert 0 < cores.usable <= cores.allowed


@pytest.mark.parametrize(
    ("text", "quota"),
    [("max 100000\n", None), ("150000 100000\n", 1.5), ("-1 100000\n", None)],
)
def test_a_container_has_a_share_of_time(
    text: str, quota: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(text)
    monkeypatch.setattr(module, "QUOTA", file)
    assert cores_now().quota == quota


def test_older_systems_tell_it_in_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quota").write_text("50000\n")
    (tmp_path / "period").write_text("100000\n")
    monkeypatch.setattr(module, "QUOTA", tmp_path / "none")
    monkeypatch.setattr(module, "OLD_QUOTA", tmp_path / "quota")
    monkeypatch.setattr(module, "OLD_PERIOD", tmp_path / "period")
    assert cores_now().quota == 0.5
    monkeypatch.setattr(module, "OLD_QUOTA", tmp_path / "none")
    assert cores_now().quota is None


def test_a_system_without_a_load_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg")
    monkeypatch.delattr(os, "sched_getaffinity")
    cores = cores_now()
    assert cores.load is None
    assert not cores.busy
    assert cores.allowed == cores.present


def test_a_machine_is_busy_when_programs_wait_for_a_core() -> None:
    assert not Cores(2, 2, None, 2.2).busy
    assert Cores(2, 2, None, 3.0).busy
    assert Cores(2, 2, None, 3.0).describe_load() == "load 3.0 on 2 cores"
    assert Cores(1, 1, None, 3.0).describe_load() == "load 3.0 on 1 core"


def test_a_process_uses_what_both_limits_leave() -> None:
    assert Cores(8, 8, None, None).usable == 8
    assert Cores(8, 4, None, None).usable == 4
    assert Cores(8, 4, 1.5, None).usable == 1.5
