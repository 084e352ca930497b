from pathlib import Path

from dragoman.lab.drawing import COLOURS, DASHES, MARKERS, draw
from dragoman.lab.findings import Bars, Curves, Heatmap, Line, Spread


def test_every_kind_of_panel_is_drawn(tmp_path: Path) -> None:
    spread = Spread.of([1.0, 2.0])
    lines = tuple(Line.of(f"{k}", [(1, spread), (2, spread)]) for k in range(8))
    expected = Line("theory", (1, 2), (1, 2), expected=True)
    panels = (
        Curves("lines", "x", "y", (*lines, expected), log_x=True, log_y=True),
        Bars("bars", "x", ("one", "two"), (spread, spread)),
        Heatmap("map", "x", "y", ((0.0, 1.0), (-1.0, 0.5))),
    )
    paths = [tmp_path / "plot.svg", tmp_path / "plot.png"]
    draw(panels, paths)
    for colour in COLOURS:
        assert colour.lower() in paths[0].read_text("utf-8").lower()
    assert all(path.stat().st_size > 1000 for path in paths)


def test_lines_differ_in_more_than_colour() -> None:
    assert len(set(MARKERS)) == len(set(DASHES)) == len(set(COLOURS)) == len(COLOURS)
