"""Completion in real shells, from the scripts that `dragoman completion` prints."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.command_tree import command_tree, walk
from dragoman.cli.main import build_parser, main

# What is typed before Tab is pressed, and what a shell then offers.
OFFERED = [
    ("dragoman tr", {"train", "translate"}),
    ("dragoman data ", {"get", "list"}),
    ("dragoman completion ", {"bash", "zsh", "fish"}),
    ("dragoman train --allow", {"--allow-changed", "--allow-dropped"}),
    ("dragoman train --preset ti", {"tiny"}),
    ("dragoman translate runs --engine ", {"auto", "pytorch", "ctranslate2"}),
    ("dragoman translate no", {"notes.txt"}),
    ("dragoman train model --config no", {"notes.txt"}),
    ("dragoman train model --steps no", set()),
]
# What is typed before Tab is pressed, and what it becomes: there is one way to go on.
COMPLETED = [
    ("dragoman transl", "dragoman translate "),
    ("dragoman data g", "dragoman data get "),
    ("dragoman train --preset ti", "dragoman train --preset tiny "),
    ("dragoman translate --docu", "dragoman translate --document "),
    ("dragoman train m --config no", "dragoman train m --config notes.txt "),
]


@pytest.fixture
def shell(request: pytest.FixtureRequest, in_ci: bool) -> str:
    name: str = request.param
    if shutil.which(name) is None:
        if in_ci:
            pytest.fail(f"there is no {name} here")
        pytest.skip(f"there is no {name} here: apt-get install {name}")
    return name


@pytest.fixture
def script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", shell]) == 0
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out, "utf-8")
    (tmp_path / "notes.txt").touch()
    return path


def offered_by(shell: str, script: Path, typed: str) -> set[str]:
    if shell == "bash":
        ask = (
            f"source {script}; COMP_WORDS=({typed}); "
            f"""[[ "{typed}" == *" " ]] && COMP_WORDS+=(""); """
            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dragoman; "
            """printf "%s\\n" "${COMPREPLY[@]}" """
        )
    else:
        ask = f"source {script}; complete -C '{typed}'"
    result = subprocess.run(
        [shell, "-c", ask],
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return {line.split("\t")[0] for line in result.stdout.splitlines() if line}


@pytest.mark.parametrize("shell", ["bash", "fish"], indirect=True)
def test_shells_offer_commands_options_choices_and_files(
    shell: str, script: Path
) -> None:
    for typed, offered in OFFERED:
        assert offered_by(shell, script, typed) == offered, typed


@pytest.mark.parametrize("shell", ["zsh"], indirect=True)
def test_zsh_completes(shell: str, script: Path, at_a_terminal: Any) -> None:
    show = """show() { print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N show"""
    with at_a_terminal([shell, "-f", "-i"], TERM="dumb", PS1="> ") as terminal:
        terminal.type(
            f"cd {script.parent}; autoload -U compinit; compinit -u -d dump\n"
        )
        terminal.type(f"{show}; bindkey '^X' show; source {script}; print re''ady\n")
        terminal.read_until("ready")
        for typed, completed in COMPLETED:
            terminal.type(f"{typed}\t\x18")
            terminal.read_until("<<")
            assert terminal.read_until(">>") == completed
        terminal.type("exit 0\n")


def test_the_tree_has_every_command_and_option() -> None:
    tree = command_tree(build_parser())
    commands = {" ".join(command.words): command for command in walk(tree)}
    assert {"train", "translate", "data get", "data list", "completion"} <= set(
        commands
    )
    names = {name for option in commands["train"].options for name in option.names}
    assert {"--source", "--config", "--allow-dropped", "--help", "-h"} <= names
    assert "--debug" not in names  # it is said once, in the help of the whole
    assert all(command.help for command in walk(tree) if command.words)


def test_importing_the_tree_is_cheap() -> None:
    code = "import sys, dragoman.cli.main as m; m.main(['completion', 'bash'])"
    code += "; assert 'torch' not in sys.modules; assert 'numpy' not in sys.modules"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True).returncode
        == 0
    )
