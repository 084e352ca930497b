"""Every command and every line of Python in the README runs.

Where the README fetches a corpus and trains for minutes, the tests take the phrasebook
and seconds: `SHORTENED` is all that differs.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.text.public_corpora import get

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SHORTENED = {
    "tatoeba-en-es": "phrasebook-en-es",
    "--minutes 10": "--minutes 0.1 --set model.d_model=32 --set model.d_ff=64",
    "minutes=10": "minutes=0.1, settings={'model.d_model': 32}, quiet=True",
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    text = "".join(blocks("console")).replace("\\\n", " ")
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


def shortened(text: str) -> str:
    for long, short in SHORTENED.items():
        text = text.replace(long, short)
    return text


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    (folder / "input.en").write_text("Good morning!\nWhere are you?\n", "utf-8")
    (folder / "letter.en").write_text("Good morning!\n\n  - Come. Sit.\n", "utf-8")
    (folder / "page.html").write_text("<p>Good <b>morning</b>!</p>", "utf-8")
    (folder / "terms.tsv").write_text("you|your\tusted|su\nBoston\n", "utf-8")
    return folder


def test_the_two_commands_are_there() -> None:
    assert {"make demo", "make test"} <= set(commands())


def test_the_commands_run_one_after_the_other(workplace: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = [line for line in commands() if line.startswith("dragoman ")]
    assert len(shown) >= 5
    for command in shown:
        result = subprocess.run(
            shortened(command),
            shell=True,
            cwd=workplace,
            env=os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == 0, (command, result.stderr)
        assert shlex.split(command)[0] == "dragoman"


def test_the_python_runs(workplace: Path) -> None:
    code = shortened("".join(blocks("python")))
    assert "dragoman.train(" in code
    if not (workplace / "corpus").exists():  # the commands run in another process
        get("phrasebook-en-es", workplace / "corpus")
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=workplace,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr


def test_pictures_and_links_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
