"""A real browser on a real studio; what every page owes holds in every test.

No console error, no request beyond loopback, and nothing that axe-core objects to: the
fixture `page` checks it when the test is over, on whatever the test left on show.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    expect,
)

from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.studio.app import build_app
from dragoman.studio.server import serving
from dragoman.translator import Translator

SENTENCE = "Where is the train station?"
TARGET = "¿Dónde está la estación?"  # the toy model may say nothing at all
AXE = (Path(__file__).parent / "vendor/axe.min.js").read_text("utf-8")
PATIENCE = 20_000  # milliseconds: the machine may be busy with something else
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def address(model_folder: Path) -> Iterator[str]:
    """A studio of the toy model, served as `dragoman studio` serves it."""
    with serving(build_app([model_folder], device="cpu")) as opened:
        yield opened


@pytest.fixture(scope="session")
def toy(model_folder: Path) -> Translator:
    return Translator.load(model_folder, "cpu")


@pytest.fixture(scope="session")
def seen(toy: Translator) -> Inspection:
    """What the Python API says of the sentence that the pages show."""
    return inspect(toy, SENTENCE, TARGET)


@dataclass
class Watched:
    """What a page did that it must not."""

    console: list[str]
    requests: list[str]

    def see(self, page: Page) -> None:
        page.on("console", self._say)
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", lambda request: self._ask(request.url))

    def _say(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.console.append(message.text)

    def _ask(self, url: str) -> None:
        if urlsplit(url).hostname not in ("127.0.0.1", None):
            self.requests.append(url)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def watched() -> Watched:
    return Watched([], [])


@pytest.fixture
def page(context: BrowserContext, watched: Watched) -> Iterator[Page]:
    made = context.new_page()
    watched.see(made)
    yield made
    assert watched.console == []
    assert watched.requests == []
    assert violations(made) == []


def violations(page: Page) -> list[str]:
    """Let axe-core look at the page as it stands."""
    try:
        page.evaluate(AXE)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    except Error as error:
        return [str(error)]
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


Open = Callable[..., Page]


@pytest.fixture
def studio(page: Page, address: str) -> Open:
    """Open a page of the studio on the sentence, as a link would."""

    def opened(name: str, **params: object) -> Page:
        query = {"s": SENTENCE, "t": TARGET, **params}
        page.goto(f"{address}{name}?{urlencode(query)}")
        settled(page)
        return page

    return opened


def settled(page: Page) -> None:
    """Wait until nothing is being worked out any more."""
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("[aria-busy=true], .state.loading")).to_have_count(0)


def number(text: str) -> float:
    """Read a number as the page writes it."""
    return float(text.replace("−", "-").replace(" %", ""))


def python_of(page: Page, figure: str) -> Any:
    """Take the Python that a figure offers, and run it."""
    page.locator(f"#{figure} .formats button", has_text="Python").click()
    dialog = page.locator("dialog")
    expect(dialog).to_be_visible()
    code = dialog.locator("pre").inner_text()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    values: dict[str, Any] = {}
    exec(compile(code, figure, "exec"), values)
    return values
