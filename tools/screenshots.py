"""Make the pictures of the studio's pages that the documentation shows.

`python tools/screenshots.py MODEL FOLDER` opens the studio of a model in a headless
browser and saves each page at 1280, one at 1920, one in the dark and one on a phone.
With `--all`, every page in every width and both themes, to be looked at critically.
"""

import argparse
import os
import shutil
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, expect, sync_playwright

from dragoman.studio.app import PAGES, build_app
from dragoman.studio.server import serving

SENTENCE = "Tom asked me if I could help his sister with her homework."
DESKTOP, WIDE, PHONE = (1280, 900), (1920, 1080), (390, 844)
# What a page has to be asked for before it shows anything.
BUTTONS = {
    "compare": "Score both",
    "examples": "Translate the validation text",
    "why": "Let dₖ grow",
}
PATIENCE = 120_000
COLOURS = 256  # in a picture: a third of the bytes, and no eye sees it


@dataclass(frozen=True)
class Shot:
    """One picture to take."""

    page: str
    size: tuple[int, int] = DESKTOP
    dark: bool = False

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        width = {DESKTOP: "", WIDE: "-wide", PHONE: "-phone"}[self.size]
        return f"{self.page}{width}{'-dark' if self.dark else ''}"


SHOTS = (
    *(Shot(page) for page in PAGES),
    Shot("align", dark=True),
    Shot("align", PHONE),
    Shot("heads", WIDE),
)
EVERYTHING = tuple(
    Shot(page, size, dark)
    for page in PAGES
    for size in (DESKTOP, WIDE, PHONE)
    for dark in (False, True)
)


def take(browser: Browser, address: str, shot: Shot, sentence: str, to: Path) -> None:
    """Open a page, let it do its work, and save its picture."""
    width, height = shot.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if shot.dark else "light",
        device_scale_factor=2 if shot.size == PHONE else 1,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    query = {"s": sentence, "i": 1, "j": 2}
    if shot.page == "heads":
        query |= {"changes": "ablate:cross.0.0", "layer": 1, "head": 1}
    page.goto(f"{address}{shot.page}?{urlencode(query)}")
    settle(page)
    if shot.page in BUTTONS:
        page.get_by_role("button", name=BUTTONS[shot.page]).click()
        again = page.get_by_role("button", name="Run again").first
        expect(again).to_be_visible(timeout=PATIENCE)
    page.evaluate("scrollTo(0, 0)")
    save(page, to / f"{shot.name}.png", shot.size)
    context.close()


def save(page: Page, path: Path, size: tuple[int, int]) -> None:
    """Save what a screen shows (of a phone, a screen and a half) in few colours."""
    width, height = size
    if size == PHONE:
        height += height // 2
    area: FloatRect = {"x": 0, "y": 0, "width": width, "height": height}
    picture = Image.open(BytesIO(page.screenshot(full_page=True, clip=area)))
    picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def settle(page: Page) -> None:
    """Wait until nothing is being worked out any more."""
    busy = page.locator("[aria-busy=true], .state.loading")
    expect(page.locator("main h1")).to_be_visible(timeout=PATIENCE)
    expect(busy).to_have_count(0, timeout=PATIENCE)
    page.wait_for_load_state("networkidle")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--sentence", default=SENTENCE)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("there is no chromium here: apt-get install chromium")
    with (
        serving(build_app([options.model])) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        for shot in EVERYTHING if options.all else SHOTS:
            take(browser, address, shot, options.sentence, options.folder)
            print(options.folder / f"{shot.name}.png")
        browser.close()


if __name__ == "__main__":
    main()
