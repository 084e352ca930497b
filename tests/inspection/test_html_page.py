import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.inspection.attention import KINDS
from dragoman.inspection.head_profile import head_profile
from dragoman.inspection.html_page import html_page, notebook_frame
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.translator import Translator

AXE = Path(__file__).parents[1] / "browser/vendor/axe.min.js"
EVIL = '<script>alert(1)</script> "><img src=x onerror=alert(2)> {{data}} <!--'
PAIRS = [("Good morning!", "¡Buenos días!"), ("Where are you?", "¿Dónde estás?")]


class Parsed(HTMLParser):
    """The elements of a page, and what its scripts and styles hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = True

    def handle_endtag(self, tag: str) -> None:
        self.open = False

    def handle_data(self, data: str) -> None:
        if not self.open:
            return
        place = len(self.elements) - 1
        self.texts[place] = self.texts.get(place, "") + data

    def contents(self, tag: str) -> list[str]:
        return [
            self.texts.get(place, "")
            for place, (name, _) in enumerate(self.elements)
            if name == tag
        ]


@pytest.fixture(scope="module")
def page(seen: Inspection) -> str:
    return html_page(seen, "runs/toy")


def data_of(page: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(Parsed(page).contents("script")[0])
    return shown


def test_the_page_asks_for_nothing_from_outside(page: str) -> None:
    parsed = Parsed(page)
    for tag, attributes in parsed.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    outside = set(re.findall(r"https?://[^\"'` ]+", page))
    assert outside == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "@import" not in page
    assert "url(" not in page


def test_its_policy_allows_its_own_script_and_style_alone(page: str) -> None:
    parsed = Parsed(page)
    [policy] = [
        str(attributes["content"])
        for tag, attributes in parsed.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    [_, script], [style] = parsed.contents("script"), parsed.contents("style")

    def sha(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; script-src 'sha256-{sha(script)}'; "
        f"style-src 'sha256-{sha(style)}'"
    )


def test_the_numbers_on_the_page_are_the_inspections(
    page: str, seen: Inspection
) -> None:
    shown = data_of(page)
    for kind in KINDS:
        told = shown["attention"][kind]
        weights = seen.attention(kind).numpy()
        shape = [told[name] for name in ("layers", "heads", "rows", "columns")]
        assert shape == list(weights.shape)
        halves = np.frombuffer(base64.b64decode(told["data"]), "<f2")
        np.testing.assert_allclose(halves.reshape(weights.shape), weights, atol=1e-3)
    probabilities = [made["probability"] for made in shown["predictions"]]
    expected = seen.target_log_probabilities.exp().tolist()
    assert probabilities == pytest.approx(expected, rel=1e-5)
    assert len(shown["beam"]["nodes"]) == len(seen.beam.nodes)
    # The target is not what the model would have said.
    assert shown["texts"][1] == ["es (given)", seen.target_text]


def test_what_a_sentence_says_is_only_ever_text(toy: Translator) -> None:
    page = html_page(inspect(toy, EVIL, EVIL), EVIL)
    plain = html_page(inspect(toy, "x", "y"), "z")
    assert data_of(page)["texts"][0][1] == EVIL
    tags = [tag for tag, _ in Parsed(page).elements]
    assert tags == [tag for tag, _ in Parsed(plain).elements]


def test_a_frame_for_notebooks_holds_the_page_and_is_kept_apart(
    seen: Inspection, page: str
) -> None:
    parsed = Parsed(notebook_frame(seen))
    [(tag, attributes)] = parsed.elements
    assert (tag, attributes["sandbox"]) == ("iframe", "allow-scripts")
    assert data_of(str(attributes["srcdoc"])) == {**data_of(page), "about": ""}
    assert seen._repr_html_() == notebook_frame(seen)


def test_with_a_profile_the_best_aligning_head_comes_first(toy: Translator) -> None:
    profile = head_profile(toy, PAIRS, ablation=False)
    shown = data_of(inspect(toy, "Good morning!").to_html("toy", profile))
    best = profile.best_aligning
    assert shown["start"] == {"kind": "cross", "layer": best.layer, "head": best.head}
    assert shown["alignment"] == profile.alignment.tolist()


def test_a_blank_sentence_has_a_page(toy: Translator) -> None:
    assert data_of(html_page(inspect(toy, "")))["beam"] is None


def new_page(browser: Any) -> tuple[Any, list[str]]:
    """Give an empty page, and what it will complain of."""
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


def test_a_person_finds_their_way_in_a_real_browser(
    browser: Any, toy: Translator, tmp_path: Path
) -> None:
    seen = inspect(toy, f"Good morning {EVIL}", f"Good {EVIL}")
    path = tmp_path / "page.html"
    path.write_text(html_page(seen, "toy"), "utf-8")
    page, complaints = new_page(browser)
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    asked_for: list[str] = []
    page.on("request", lambda asked: asked_for.append(asked.url))
    page.goto(path.as_uri())
    assert page.locator("#source-text").inner_text() == seen.source_text
    tokens = page.locator("#tokens button")
    assert tokens.count() == len(seen.target_out)

    tokens.nth(1).click()
    came = page.locator("#alternatives .came .number").inner_text()
    share = 100 * seen.predictions()[1].probability
    assert float(came.removesuffix(" %")) == pytest.approx(share, abs=0.51)

    page.get_by_role("button", name="Source → source").click()
    page.get_by_role("button", name="pieces").click()
    page.locator("#heads button").nth(1).click()
    assert page.locator("#where").inner_text() == "Source → source · layer 1, head 2"
    page.get_by_text("The same as a table").click()
    cell = page.locator("#matrix-table tbody tr").nth(2).locator("td").nth(3)
    weight = float(seen.attention("encoder")[0, 1, 2, 3])
    assert float(cell.inner_text()) == pytest.approx(weight, abs=2e-3)

    page.keyboard.press("m")
    assert "mean of all heads" in page.locator("#where").inner_text()
    assert page.locator("#beam-tree .node").count() > 1
    page.locator("#theme").click()
    page.close()
    assert complaints == []
    assert asked_for == [path.as_uri()]


@pytest.mark.parametrize("kind", ["language_model", "masked_language_model"])
def test_a_language_models_page_works_in_a_real_browser(
    browser: Any, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    seen = inspect(request.getfixturevalue(kind), "Where is the [MASK] ?")
    path = tmp_path / "page.html"
    path.write_text(html_page(seen, "toy"), "utf-8")
    page, complaints = new_page(browser)
    page.goto(path.as_uri())
    assert page.locator("#target-text").inner_text() == seen.answer
    assert page.locator("#beam").is_hidden()
    page.get_by_role("button", name="pieces").click()
    page.locator("#tokens button").nth(2).click()
    page.locator("#heads button").nth(1).click()
    assert page.locator("#where").inner_text() == "Text → itself · layer 1, head 2"
    looked = page.locator("#looks span").nth(1).get_attribute("title")
    weight = 100 * float(seen.attention(seen.first_kind)[0, 1, 2, 1])
    assert float(looked.removesuffix(" %")) == pytest.approx(weight, abs=0.51)
    first = seen.target_in.pieces[0].replace("▁", "·")
    assert f"gives {first} " in page.locator("#matrix-caption").inner_text()
    page.close()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(
    browser: Any, page: str, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page, "utf-8")
    # The page's own policy would keep axe out, as it is not the page's script.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(path.as_uri())
    opened.evaluate(AXE.read_text("utf-8"))
    found = opened.evaluate("axe.run()")["violations"]
    context.close()
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
