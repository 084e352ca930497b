"""A model with rotary positions: the pages say what turns, and by how much."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
import torch
from playwright.sync_api import Page, expect
from tests.browser.conftest import SENTENCE, TARGET, python_of, settled

from dragoman.inspection.order import position_table
from dragoman.studio.app import build_app
from dragoman.studio.server import serving
from dragoman.translator import Translator

TURNED = "q = x W_Q, turned by its place"


@pytest.fixture(scope="module")
def address(rotary_folder: Path) -> Iterator[str]:
    with serving(build_app([rotary_folder], device="cpu")) as opened:
        yield opened


def opened(page: Page, address: str, name: str, **params: object) -> Page:
    query = {"s": SENTENCE, "t": TARGET, **params}
    page.goto(f"{address}{name}?{urlencode(query)}")
    settled(page)
    return page


def test_positions_are_turns(page: Page, address: str, rotary_folder: Path) -> None:
    shown = opened(page, address, "positions", first=0, second=2)
    heat = shown.locator("#encoding")
    expect(heat.locator("h2")).to_have_text(
        "By what each position turns queries and keys"
    )
    half = Translator.load(rotary_folder, "cpu").config.model.head_size // 2
    expect(heat).to_contain_text(f"i and i + {half}")
    expect(shown.locator("#waves")).to_contain_text("sine of angle")
    expect(shown.locator("#rotation h2")).to_contain_text("One rotation leads")
    assert float(shown.locator("#memory-change-without").inner_text()) < 1e-4
    table = python_of(shown, "encoding")["table"]
    translator = Translator.load(rotary_folder, "cpu")
    assert torch.equal(table, position_table(translator, 64))


def test_a_head_says_what_is_turned(page: Page, address: str) -> None:
    place = {"layer": 1, "head": 1, "j": 2, "key": 1}
    shown = opened(page, address, "head", kind="decoder", **place)
    expect(shown.locator("#products")).to_contain_text(TURNED)
    opened(page, address, "head", kind="cross", **place)
    expect(shown.locator("#products")).not_to_contain_text("turned")
    changed = {"kind": "decoder", **place, "changes": "without:positions"}
    opened(page, address, "head", **changed)
    expect(shown.locator("#products")).not_to_contain_text("turned by")
