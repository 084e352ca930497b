"""The lab's report in a real browser: readable, in light and dark, on a phone."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import AXE

from dragoman.lab.catalogue import find
from dragoman.lab.experiment import Bench
from dragoman.lab.report import write_report
from dragoman.lab.run import run


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    run(find("scaling"), folder, Bench(folder, quick=True, seeds=1))
    return write_report(folder)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(
    browser: Browser, report: Path, scheme: Literal["light", "dark"]
) -> None:
    # The page's own policy would keep axe out, as it allows no script at all.
    context = browser.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": 390, "height": 800}
    )
    page = context.new_page()
    page.goto(report.as_uri())
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")["violations"]
    wide = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
    assert wide <= 390  # nothing to scroll sideways on a phone


def test_the_picture_is_shown_and_nothing_is_fetched(
    browser: Browser, report: Path
) -> None:
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.split(":")[0]))
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(report.as_uri())
    drawn = page.locator("img.plot").evaluate("image => image.naturalWidth")
    context.close()
    assert drawn > 100
    assert complaints == []
    assert set(asked) <= {"file", "data"}
