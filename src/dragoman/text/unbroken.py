"""Runs of characters without a blank, far longer than any word of any language."""

import re
from dataclasses import dataclass

LONGEST_RUN = 1000  # characters; pages of Chinese or Japanese have punctuation at least
_RUN = re.compile(rf"[^\s。！？；：，、،…]{{{LONGEST_RUN + 1},}}")


@dataclass(frozen=True)
class Stretch:
    """A part of a text that is one endless run, or has none."""

    text: str
    is_unbroken: bool


def part_by_unbroken(text: str) -> list[Stretch]:
    """Part a text at its endless runs; together the stretches are the text."""
    stretches, end = [], 0
    for run in _RUN.finditer(text):
        stretches += [Stretch(text[end : run.start()], is_unbroken=False)]
        stretches += [Stretch(run[0], is_unbroken=True)]
        end = run.end()
    stretches.append(Stretch(text[end:], is_unbroken=False))
    return [stretch for stretch in stretches if stretch.text]
