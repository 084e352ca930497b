import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.cli.main import main


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    from dragoman.lab.catalogue import EXPERIMENTS

    assert main(["lab"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [e.name for e in EXPERIMENTS]
    assert all(line.endswith("?") for line in lines)


def test_an_experiment_is_measured_kept_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--quick", "--seeds", "2", "--output", str(tmp_path)]
    assert main(["lab", "scaling", *how]) == 0
    said = capsys.readouterr().out
    assert "The prediction held: as predicted, the variance of q·k" in said
    result = json.loads((tmp_path / "scaling" / "result.json").read_text("utf-8"))
    assert result["seeds"] == 2
    assert result["sentence"] in said

    assert main(["lab", "scaling", "report", *how]) == 0
    said = capsys.readouterr().out
    assert "kept from before" in said
    assert str(tmp_path / "report.html") in said
    assert result["question"] in (tmp_path / "report.html").read_text("utf-8")


def test_a_wrong_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "heds"]) == 1
    assert capsys.readouterr().err == (
        "dragoman: there is no experiment 'heds': did you mean 'heads'? "
        "`dragoman lab` lists them\n"
    )


def test_one_that_cannot_be_done_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--output", str(tmp_path), "--data", str(tmp_path), "--seeds", "1"]
    assert main(["lab", "heads", "scaling", "--quick", *where]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert errors[0].startswith("dragoman: heads: ")
    assert errors[-1] == "dragoman: not measured, as said above: heads"
    assert (tmp_path / "scaling" / "result.json").exists()


def test_ctrl_c_saves_what_is_being_trained(tmp_path: Path) -> None:
    asked = ["lab", "heads", "--quick", "--steps", "100000", "--output", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "dragoman", *asked], stderr=subprocess.PIPE, text=True
    )
    training = tmp_path / "heads" / "work" / "quick" / "1-heads-seed-1"
    wait_for(lambda: (training / "metrics.jsonl").exists())
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT
    assert said.endswith("stopped and saved: the same command goes on\n")
    assert (training / "checkpoints").exists()
    assert not (tmp_path / "heads" / "result.json").exists()


def wait_for(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not there():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)
