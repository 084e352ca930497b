"""How long from pressing Enter to the painted attention of a 20-word sentence.

Measured inside the browser: from the key to the frame after the alignment of the new
sentence was drawn. Translating, looking inside, sending and painting are all in it.

    python benchmarks/studio.py runs/demo
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect, sync_playwright

WORDS = (
    "my sister and her friends want to go to the small house near the sea with "
    "us before the winter comes"
)
BEGINNINGS = ("Now", "Today", "Then", "Here", "Soon", "Maybe", "Yes", "So")
# Resolves when the matrix has been painted for another sentence than before.
PAINTED = """(before) => new Promise((resolve) => {
  const look = () => {
    const canvas = document.querySelector("#alignment canvas");
    const word = document.querySelector(".words .word")?.textContent;
    const busy = document.querySelector("[aria-busy=true]");
    if (canvas && !busy && word !== before && canvas.width > 0) {
      requestAnimationFrame(() => resolve(performance.now()));
    } else requestAnimationFrame(look);
  };
  look();
})"""


def measure(page: Page, sentence: str) -> float:
    """Type a sentence, press Enter, and give the milliseconds until it is painted."""
    before = page.locator(".words .word").first.inner_text()
    page.locator("#sentence").fill(sentence)
    page.evaluate(
        """() => document.querySelector("#sentence").form.addEventListener("submit",
             () => { window.pressed = performance.now(); }, {capture: true})"""
    )
    page.locator("#sentence").press("Enter")
    painted = page.evaluate(PAINTED, before)
    return float(painted - page.evaluate("window.pressed"))


@contextmanager
def opened(model: Path) -> Iterator[str]:
    """Open the studio as a person does, and give its address."""
    command = [sys.executable, "-m", "dragoman", "studio", str(model), "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as studio:
        assert studio.stderr is not None
        said = next(line for line in studio.stderr if "is open at" in line)
        yield said.split("is open at ")[1].split()[0]
        studio.terminate()


def painting_times(model: Path) -> list[float]:
    """Give the milliseconds of some sentences, one after the other."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium is not None, "there is no chromium here: apt-get install chromium"
    with opened(model) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        page = browser.new_page()
        page.goto(f"{address}align?{urlencode({'s': f'First, {WORDS}.'})}")
        expect(page.locator("#alignment canvas")).to_be_visible(timeout=60_000)
        page.wait_for_load_state("networkidle")
        times = [measure(page, f"{word}, {WORDS}.") for word in BEGINNINGS]
        browser.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, metavar="MODEL")
    times = painting_times(parser.parse_args().model)
    shown = ", ".join(f"{time:.0f}" for time in times)
    print(f"Enter to painted attention, ms: {shown}")
    print(f"median {statistics.median(times):.0f} ms of {len(times)} sentences")


if __name__ == "__main__":
    main()
