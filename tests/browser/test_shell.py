"""What stays while pages change."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from tests.browser.conftest import SENTENCE, Open, Watched, number, python_of, settled

from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.studio.app import PAGES
from dragoman.translator import Translator


def test_a_person_types_a_sentence_and_sees_its_translation(
    page: Page, address: str, toy: Translator
) -> None:
    seen = inspect(toy, SENTENCE)
    page.goto(address)
    expect(page.get_by_text("Type a sentence above")).to_be_visible()
    page.locator("#sentence").fill(SENTENCE)
    page.keyboard.press("Enter")
    words = page.get_by_role("group", name="Target words").get_by_role("button")
    expect(words).to_have_text([word.text for word in seen.target_out.words])
    shown = number(page.locator("#log-probability").inner_text())
    assert shown == pytest.approx(seen.log_probability, abs=6e-4)


def test_an_address_reproduces_the_view(studio: Open, context: BrowserContext) -> None:
    page = studio("align")
    page.get_by_role("group", name="Source words").get_by_role("button").nth(1).click()
    page.get_by_role("group", name="Target words").get_by_role("button").nth(0).click()
    page.keyboard.press(".")
    page.get_by_role("button", name="pieces").click()
    settled(page)
    again = context.new_page()
    again.goto(page.url)
    settled(again)
    for selector in ("header.bar", "#alignment"):
        assert again.locator(selector).inner_text() == (
            page.locator(selector).inner_text()
        )
    assert again.locator(".word[aria-pressed=true]").count() == 2


def test_the_selection_goes_along_from_page_to_page(studio: Open) -> None:
    page = studio("translate", i=1, j=0)
    chosen = page.locator(".word[aria-pressed=true]").all_inner_texts()
    for name in PAGES:
        page.locator(f"nav a[href^='/{name}?']").click()
        expect(page.locator("nav a[aria-current=page]")).to_have_attribute(
            "href", page.url[page.url.index(f"/{name}") :]
        )
        assert page.locator(".word[aria-pressed=true]").all_inner_texts() == chosen
    page.go_back()
    assert f"/{PAGES[-2]}?" in page.url
    settled(page)


def test_the_keyboard_alone_suffices(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("main h1")
    page.keyboard.press("/")
    page.keyboard.type(SENTENCE)
    page.keyboard.press("Enter")
    page.wait_for_selector(".words .word")
    page.locator("#sentence").press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    settled(page)
    assert "/align" in page.url
    page.keyboard.press(".")
    page.keyboard.press("w")
    page.keyboard.press("a")
    settled(page)
    assert "head=" in page.url
    assert "unit=piece" in page.url
    assert "ablate" in page.url
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.className"))
        if "scroller" in reached[-1]:
            break
    assert "scroller" in reached[-1], reached
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert {"i=1", "j=1"} <= set(page.url.partition("?")[2].split("&"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_dialog_is_open_as_soon_as_its_contents_are_there(studio: Open) -> None:
    page = studio("heads")
    opened = page.evaluate("""() => new Promise((resolve) => {
        const dialog = document.querySelector("dialog");
        new MutationObserver(() => resolve(dialog.open))
            .observe(dialog, { childList: true });
        const key = new KeyboardEvent("keydown", { key: "?", bubbles: true });
        document.body.dispatchEvent(key);
    })""")
    assert opened, "a quick Esc would come before the dialog and leave it open"


def test_ablating_a_head_changes_what_the_api_says(
    studio: Open, seen: Inspection
) -> None:
    page = studio("align", layer=1, head=2)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("a")
    effect = page.locator(".effect output")
    effect.wait_for()
    settled(page)
    off = seen.ablate("cross", 0, 1).after
    change = off.log_probability - seen.log_probability
    assert change != 0
    assert number(effect.inner_text()) == pytest.approx(change, abs=6e-4)
    assert number(page.locator("#log-probability").inner_text()) == pytest.approx(
        off.log_probability, abs=6e-4
    )
    inspected = python_of(page, "alignment")["inspection"]
    assert inspected.log_probability == pytest.approx(off.log_probability)
    page.get_by_role("button", name="take all back").click()
    settled(page)
    assert page.locator(".effect").count() == 0


def test_text_that_is_typed_never_runs(studio: Open) -> None:
    script = "<img src=x onerror=window.ran=1><script>window.ran=1</script>"
    page = studio("translate", s=script, t=script)
    for name in PAGES:
        page.locator(f"nav a[href^='/{name}?']").click()
        settled(page)
        assert page.evaluate("window.ran") is None
    assert page.locator("#sentence").input_value() == script


def test_a_wrong_address_is_said_in_a_line(
    page: Page, address: str, watched: Watched
) -> None:
    page.goto(f"{address}align?s=Hello&changes=ablate:cross.9.9")
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("there is no layer 9")
    # The browser itself notes the refusal; nothing else may be on the console.
    assert all("status of 400" in text for text in watched.console)
    watched.console.clear()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_long_sentence_stays_usable(studio: Open, width: int, scheme: str) -> None:
    long = " ".join(["where is the station and how do I get there"] * 9)
    page_ = studio("align", s=long[:900], t=long[:800])
    page_.set_viewport_size({"width": width, "height": 800})
    page_.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    overflow = page_.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert overflow <= 0
    assert page_.locator("#alignment canvas").is_visible()


def test_no_page_scrolls_sideways_on_a_phone(studio: Open) -> None:
    page = studio("translate")
    page.set_viewport_size({"width": 390, "height": 844})
    for name in PAGES:
        page.locator(f"nav a[href^='/{name}?']").click()
        settled(page)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert (name, wide) == (name, 390)


def test_a_drawing_saved_in_the_dark_brings_its_paper(
    studio: Open, tmp_path: Path
) -> None:
    page = studio("align")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    with page.expect_download() as download:
        page.locator("#ribbons").get_by_role("button", name="as SVG").click()
    download.value.save_as(tmp_path / "ribbons.svg")
    drawing = ElementTree.parse(tmp_path / "ribbons.svg").getroot()
    paper, ink = drawing[0], drawing[-1]
    assert paper.get("width") == "100%"
    assert brightness(paper) < 0.2
    assert brightness(ink) > 0.7


def brightness(element: ElementTree.Element) -> float:
    """Read how bright a fill is, from 0 to 1."""
    fill = element.get("fill", "")
    if fill.startswith("#"):
        parts = [int(fill[at : at + 2], 16) for at in (1, 3, 5)]
    else:
        parts = [int(part) for part in re.findall(r"\d+", fill)[:3]]
    return sum(parts) / 765


def test_a_figure_is_saved_in_every_format(studio: Open, tmp_path: Path) -> None:
    page = studio("align", unit="piece")
    table = page.locator("#alignment .unseen td").all_inner_texts()
    for ending, begins in (
        ("svg", b"<svg"),
        ("png", b"\x89PNG"),
        ("csv", b","),
        ("html", b"<!doctype html>"),
    ):
        with page.expect_download() as download:
            page.locator("#alignment").get_by_role(
                "button", name=f"as {ending.upper()}"
            ).click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        assert saved.name == f"alignment.{ending}"
        assert saved.read_bytes().startswith(begins)
    rows = (tmp_path / "alignment.csv").read_text("utf-8").splitlines()[1:]
    cells = [row.rpartition(",")[2] for row in rows]
    columns = len(table) // len(rows)
    assert [float(cell) for cell in cells] == pytest.approx(
        [number(text) for text in table[columns - 1 :: columns]], abs=6e-4
    )
    assert "<script" not in (tmp_path / "alignment.html").read_text("utf-8")
    assert json.dumps(SENTENCE)[1:-1] in (tmp_path / "alignment.html").read_text()
