import json

import pytest

from dragoman.cli.main import main
from dragoman.kernels.instructions import whole_processor


def test_the_doctor_examines_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    labels = [line.split()[0] for line in lines if not line.startswith(" ")]
    wanted = "processor cores dragoman torch kernels precision engines extras products"
    assert [label for label in labels if label in wanted.split()] == wanted.split()
    assert "training" in labels
    assert "faster" in labels
    assert lines[0].startswith(f"processor   {whole_processor().name}")
    assert len(lines) < 40  # one screen


def test_the_doctor_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["speeds"]["learning"]["tiny"] > 0
    assert found["speeds"]["products"]["float32"] > 1e6
    assert found["kernels"]["kind"] in ("compiled", "prebuilt", "plain")


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--help"])
    assert ended.value.code == 0
    assert "dragoman doctor --json" in capsys.readouterr().out
