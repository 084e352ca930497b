import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.errors import InspectionError, MissingExtraError
from dragoman.inspection.attention import KINDS
from dragoman.inspection.attention_figure import (
    AttentionPicture,
    draw_attention,
    sharpest_layer,
)
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.tokens import BEGIN_SIGN, END_SIGN

pytest.importorskip("matplotlib")


def draw_weights(*shape: int) -> Tensor:
    return torch.randn(shape).mul(3).softmax(dim=-1)


def make_picture(
    source: tuple[str, ...], target: tuple[str, ...], layers: int = 2, heads: int = 3
) -> AttentionPicture:
    rows, columns = (*target, END_SIGN), (*source, END_SIGN)
    weights = draw_weights(layers, heads, len(rows), len(columns))
    return AttentionPicture("cross", weights, rows, columns, 0, None)


def size(picture: Path) -> tuple[int, int]:
    """Read the width and height that a PNG states in its header."""
    header = picture.read_bytes()[16:24]
    return int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")


@pytest.mark.parametrize(
    ("ending", "beginning"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")],
)
def test_the_ending_decides_the_format(
    tmp_path: Path, ending: str, beginning: bytes
) -> None:
    path = tmp_path / f"attention.{ending}"
    draw_attention(make_picture(("▁Let's", "▁go", "!"), ("▁¡", "Vamos", "!")), path)
    assert path.read_bytes().startswith(beginning)


def test_any_other_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InspectionError) as raised:
        draw_attention(make_picture(("a",), ("b",)), tmp_path / "a.gif")
    assert str(raised.value) == (
        f"a picture cannot be written to {tmp_path / 'a.gif'}: its name must end in "
        ".png, .svg or .pdf"
    )


def test_every_kind_and_head_of_an_inspection_can_be_drawn(
    seen: Inspection, tmp_path: Path
) -> None:
    for kind in KINDS:
        seen.draw(tmp_path / "mean.svg", kind)
        seen.draw(tmp_path / "head.svg", kind, layer=1, head=1, words=False)
        mean = (tmp_path / "mean.svg").read_text("utf-8")
        head = (tmp_path / "head.svg").read_text("utf-8")
        assert "mean of all heads" in mean
        assert "layer 2, head 2" in head


def test_a_picture_of_a_head_that_is_not_there_is_refused(
    seen: Inspection, tmp_path: Path
) -> None:
    with pytest.raises(InspectionError, match="there is no layer 7"):
        seen.draw(tmp_path / "a.png", layer=7)


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(("▁日本", "語", "🙂", "▁и", "\u0301"), id="other-scripts"),
        pytest.param(("$$", "$x^$", "$\\frac$", "_", "^"), id="mathematics"),
        pytest.param(("y" * 300, "x"), id="endless"),
        pytest.param(("", " ", "<0x0A>", "%s", "{}"), id="odd-pieces"),
    ],
)
def test_any_piece_can_be_drawn_without_a_warning(
    tmp_path: Path, pieces: tuple[str, ...]
) -> None:
    draw_attention(make_picture(pieces, pieces[::-1]), tmp_path / "attention.png")
    assert (tmp_path / "attention.png").exists()


def test_our_own_signs_are_in_the_font() -> None:
    from matplotlib.font_manager import findfont, get_font

    known = get_font(findfont("DejaVu Sans")).get_charmap()
    assert {ord(sign) for sign in (BEGIN_SIGN, END_SIGN, "▁")} <= set(known)


def test_more_words_make_a_larger_picture(tmp_path: Path) -> None:
    sizes = []
    for words in (1, 12, 25):
        pieces = tuple(f"▁word{n}" for n in range(words))
        draw_attention(make_picture(pieces, pieces, 1, 1), tmp_path / "a.png")
        sizes.append(size(tmp_path / "a.png"))
    assert sizes[0] < sizes[1] < sizes[2]


def test_many_words_still_make_a_picture_of_sensible_size(
    tmp_path: Path,
) -> None:
    pieces = tuple(f"▁word{n}" for n in range(150))
    draw_attention(make_picture(pieces, pieces[:5], 1, 1), tmp_path / "a.png")
    assert max(size(tmp_path / "a.png")) < 4000


def test_a_single_head_and_a_single_row_can_be_drawn(tmp_path: Path) -> None:
    draw_attention(make_picture((), (), layers=1, heads=1), tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()


def test_the_sharpest_layer_is_the_least_spread_out() -> None:
    uniform = torch.full((2, 4, 5), 1 / 5)
    leaning = torch.tensor([0.6, 0.1, 0.1, 0.1, 0.1]).expand(2, 4, 5)
    pointing = torch.eye(5)[:4].expand(2, 4, 5)
    assert sharpest_layer(torch.stack([uniform, leaning, pointing])) == 2
    assert sharpest_layer(torch.stack([pointing, uniform, leaning])) == 0
    assert sharpest_layer(torch.stack([uniform, leaning])) == 1


def test_heads_that_point_apart_are_not_sharp_together() -> None:
    apart = torch.stack([torch.eye(4).roll(head, 1) for head in range(4)])
    together = torch.tensor([0.7, 0.1, 0.1, 0.1]).expand(4, 4, 4)
    assert sharpest_layer(torch.stack([apart, together])) == 1


def test_missing_matplotlib_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError) as raised:
        draw_attention(make_picture(("a",), ("b",)), tmp_path / "a.png")
    assert str(raised.value) == (
        "drawing needs the package 'matplotlib', which is not installed: "
        "pip install 'dragoman[inspection]'"
    )
    assert list(tmp_path.iterdir()) == []
