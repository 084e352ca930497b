"""A model with rotary positions: the pages say what turns, and by how much."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect
from tests.browser.conftest import Open, python_of

from dragoman.inspection.order import position_table
from dragoman.studio.app import build_app
from dragoman.studio.server import serving
from dragoman.translator import Translator

TURNED = "q = x W_Q, turned by its place"


@pytest.fixture(scope="module")
def address(rotary_folder: Path) -> Iterator[str]:
    with serving(build_app([rotary_folder], device="cpu")) as opened:
        yield opened


def test_positions_are_turns(studio: Open, rotary_folder: Path) -> None:
    shown = studio("positions", first=0, second=2)
    heat = shown.locator("#encoding")
    expect(heat.locator("h2")).to_have_text(
        "By what each position turns queries and keys"
    )
    translator = Translator.load(rotary_folder, "cpu")
    half = translator.config.model.head_size // 2
    expect(heat).to_contain_text(f"i and i + {half}")
    expect(shown.locator("#waves")).to_contain_text("sine of angle")
    expect(shown.locator("#rotation h2")).to_contain_text("One rotation leads")
    assert float(shown.locator("#memory-change-without").inner_text()) < 1e-4
    table = python_of(shown, "encoding")["table"]
    assert torch.equal(table, position_table(translator, 64))


def test_a_head_says_what_is_turned(studio: Open) -> None:
    place = {"layer": 1, "head": 1, "j": 2, "key": 1}
    shown = studio("head", kind="decoder", **place)
    expect(shown.locator("#products")).to_contain_text(TURNED)
    studio("head", kind="cross", **place)
    expect(shown.locator("#products")).not_to_contain_text("turned")
    changed = {"kind": "decoder", **place, "changes": "without:positions"}
    studio("head", **changed)
    expect(shown.locator("#products")).not_to_contain_text("turned by")
