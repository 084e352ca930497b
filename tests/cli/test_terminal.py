"""What a person sees at a real terminal."""

import sys
from pathlib import Path
from typing import Any

DRAGOMAN = [sys.executable, "-m", "dragoman"]


def test_without_input_a_terminal_is_told_what_is_waited_for(
    model_folder: Path, at_a_terminal: Any
) -> None:
    with at_a_terminal([*DRAGOMAN, "translate", str(model_folder)]) as terminal:
        invitation = "dragoman: type a line to translate; Ctrl-D ends\r\n"
        assert terminal.read_until(invitation) == ""
        terminal.type("Good morning!\n")
        terminal.read_until("Good morning!\r\n")  # the terminal's own echo
        assert terminal.read_until("\r\n")
        terminal.type("\x04")


def test_with_a_sentence_nothing_is_asked_for(
    model_folder: Path, at_a_terminal: Any
) -> None:
    command = [*DRAGOMAN, "translate", str(model_folder), "Good morning!"]
    with at_a_terminal(command) as terminal:
        assert "type a line" not in terminal.read_until("\r\n")
