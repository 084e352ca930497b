import io
import sys

import pytest

from dragoman.training import progress
from dragoman.training.progress import (
    PreparationBar,
    ProgressBar,
    Speedometer,
    duration,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def sit_at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of stderr; a fixture would come too early."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def show(bar: ProgressBar, step: int = 1234) -> None:
    bar.show(
        step=step,
        progress=0.25,
        loss=3.2,
        tokens_per_second=5678.9,
        rate=0.001,
        seconds_left=70,
    )


def test_a_log_file_gets_plain_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", -1.0)
    bar = ProgressBar(quiet=False)
    bar.say("preset tiny: as asked")
    show(bar)
    bar.close()
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        "preset tiny: as asked\n"
        "step 1,234   25%  loss 3.200  5,679 tokens/s  rate 0.001  1:10 left\n"
    )


def test_a_log_file_gets_a_line_only_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("dragoman.training.progress.time.monotonic", lambda: now)
    bar = ProgressBar(quiet=False)
    for step in range(1, 101):  # one second each
        now = float(step)
        show(bar, step)
    bar.close()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == ["31", "62", "93"]


def test_a_terminal_gets_one_bar_and_lines_above_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = sit_at_terminal(monkeypatch)
    bar = ProgressBar(quiet=False)
    bar.say("a line")
    show(bar)
    bar.close()
    written = terminal.getvalue()
    assert "\ra line\n" in written
    last = written.rstrip("\n").split("\r")[-1]
    assert last.startswith("step 1,234  25%|")
    assert last.endswith("| loss 3.200  5,679 tokens/s  rate 0.001  1:10 left")
    assert written.count("\n") == 2


def test_quiet_is_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", -1.0)
    bar = ProgressBar(quiet=True)
    bar.say("nobody hears this")
    show(bar)
    bar.close()
    with PreparationBar(quiet=True) as preparation:
        preparation.show("reading", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_quiet_is_quiet_on_a_terminal_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = sit_at_terminal(monkeypatch)
    bar = ProgressBar(quiet=True)
    show(bar)
    bar.close()
    with PreparationBar(quiet=True) as preparation:
        preparation.show("reading", 1, 2)
    assert terminal.getvalue() == ""


def test_preparation_shows_nothing_in_a_log_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with PreparationBar(quiet=False) as bar:
        bar.show("reading", 1, None)
    assert capsys.readouterr() == ("", "")


def test_preparation_shows_stage_after_stage_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = sit_at_terminal(monkeypatch)
    with PreparationBar(quiet=False) as bar:
        for label in ("reading", "encoding"):
            for done in (1, 50, 100):
                bar.show(label, done, 100)
    written = terminal.getvalue()
    assert written.index("reading") < written.index("encoding")
    assert written.endswith("\r")  # it leaves no trace


def test_a_steady_run_has_a_steady_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("dragoman.training.progress.time.monotonic", lambda: now)
    speedometer = Speedometer()
    for _ in range(50):
        now += 0.5
        assert speedometer.after(300) == pytest.approx(600)
    now += 0.5
    assert 600 < speedometer.after(3000) < 6000  # one burst is smoothed


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (-3, "0:00"),
        (7.4, "0:07"),
        (59.6, "1:00"),
        (247, "4:07"),
        (3909, "1:05:09"),
        (100 * 3600, "100:00:00"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
