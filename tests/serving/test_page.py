"""The page at `/`, in a real browser: it translates, and runs no script but its own."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import AXE
from tests.serving.conftest import Running


@pytest.fixture
def page(browser: Browser, server: Running) -> Iterator[Page]:
    context = browser.new_context(
        bypass_csp=False, viewport={"width": 1200, "height": 800}
    )
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(server.url) else troubles.append(r.url),
    )
    page.goto(server.url)
    expect(page.locator("#target")).to_have_value("es")
    yield page
    assert not troubles
    context.close()


def translated(page: Page) -> str:
    words = page.locator("#translation button")
    expect(words.first).to_be_visible()
    return page.locator("#translation").inner_text()


def test_text_is_translated_as_one_types(page: Page) -> None:
    page.get_by_role("textbox", name="Text to translate").fill("Number 12345 please.")
    assert "12345" in translated(page)
    expect(page.locator("#count")).to_have_text("20 characters")
    expect(page.locator("#found")).to_have_text("found: en")
    page.get_by_text("History").click()
    expect(page.locator("#history button")).to_have_count(1)
    page.reload()
    expect(page.locator("#history button")).to_have_count(1)


def test_a_word_offers_others_and_goes_on_from_there(page: Page) -> None:
    page.get_by_role("textbox", name="Text to translate").fill("Good morning!")
    translated(page)
    page.locator("#translation button").last.click()
    offered = page.locator("#choices button")
    expect(offered).to_have_count(6)
    wanted = offered.nth(1).inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#choices")).to_be_hidden()
    got = page.locator("#translation").inner_text()
    assert " ".join(got.split()) == " ".join(wanted.split())


def test_a_glossary_is_kept_to(page: Page) -> None:
    page.get_by_text("Glossary").click()
    page.locator("#glossary").fill("friend = compadre")
    page.get_by_role("textbox", name="Text to translate").fill("My friend")
    expect(page.locator("#translation")).to_contain_text("compadre")


def test_scripts_in_texts_do_not_run(page: Page) -> None:
    payload = "<img src=x onerror=\"document.title='broken'\"><script>alert(1)</script>"
    page.get_by_role("textbox", name="Text to translate").fill(payload)
    translated(page)
    assert page.title() == "Dragoman: translate"
    assert page.locator("#translation img, #translation script").count() == 0


def test_a_document_is_translated(page: Page, tmp_path: Path) -> None:
    document = tmp_path / "page.html"
    document.write_text("<p>Good <b>morning</b></p>")
    page.get_by_text("Translate a document").click()
    page.locator("#file").set_input_files(document)
    link = page.get_by_role("link", name=re.compile(r"Save page\.es\.html"))
    with page.expect_download() as loading:
        link.click()
    assert loading.value.path().read_text().startswith("<p>")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_axe_finds_nothing_and_nothing_overflows(
    page: Page, theme: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.get_by_role("textbox", name="Text to translate").fill("Good morning!")
    translated(page)
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [one["id"] for one in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_policy_is_strict(server: Running) -> None:
    policy = server.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
