"""A person's path through each page; what it shows is what the Python API says."""

import pytest
import torch
from playwright.sync_api import expect
from tests.browser.conftest import Open, number, python_of, settled

from dragoman.inspection.attention import KINDS
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.leaks import leak_test
from dragoman.inspection.logit_lens import logit_lens
from dragoman.inspection.order import position_table, rotation, swap_words
from dragoman.inspection.tokens import merge_attention
from dragoman.inspection.walk_through import walk_through
from dragoman.inspection.why_attention import WIDTHS, saturation

LONG = 90_000  # milliseconds, for what translates the whole validation text


def test_translate(studio: Open, seen: Inspection) -> None:
    page = studio("translate")
    predictions = seen.predictions(10)
    steps = page.locator(".step")
    expect(steps).to_have_count(len(predictions))
    for place, prediction in enumerate(predictions[:3]):
        says = steps.nth(place).locator(".says output").inner_text()
        assert number(says) == pytest.approx(100 * prediction.probability, abs=0.06)
        assert steps.nth(place).locator(".alternatives li").count() == 10
    pruned = next(n for n in seen.beam.nodes if n.fate == "below the beam")
    page.locator(".tree .node").nth(pruned.number).click()
    expect(page.locator("#fate")).to_have_text(pruned.fate)
    assert number(page.locator("#node-score").inner_text()) == pytest.approx(
        pruned.score, abs=6e-5
    )
    page.locator("#node-0").click()
    page.keyboard.press("ArrowRight")
    first_child = seen.beam.children[0][0]
    expect(page.locator("#node-score")).to_have_text(
        f"{first_child.score:.4f}".replace("-", "−")
    )
    page.locator("#beam-step").fill("1")
    first = sum(node.step <= 1 for node in seen.beam.nodes)
    expect(page.locator(".tree .node")).to_have_count(first)
    assert python_of(page, "search")["inspection"].beam.best == seen.beam.best


def test_another_token_can_be_forced_and_a_reference_followed(
    studio: Open, seen: Inspection
) -> None:
    page = studio("translate")
    other = seen.predictions(10)[0].alternatives[4]
    page.locator(".step").first.locator(".alternatives button").nth(4).click()
    page.locator(".effect").wait_for()
    settled(page)
    forced = seen.force([other.token]).after
    words = page.get_by_role("group", name="Target words").get_by_role("button")
    expect(words).to_have_text([word.text for word in forced.target_out.words])
    page.get_by_label("Reference").fill("¿Dónde?")
    page.get_by_role("button", name="Follow it").click()
    verdict = forced.reference("¿Dónde?")
    score = page.locator("#reference-score")
    expect(score).to_be_visible()
    assert number(score.inner_text()) == pytest.approx(verdict.score, abs=6e-5)
    expect(page.locator("#blame")).to_contain_text(verdict.blame)


def test_align(studio: Open, seen: Inspection) -> None:
    piece = seen.source.words[1].start
    page = studio("align", i=piece, j=0, head=2)
    words = merge_attention(seen.attention("cross")[0, 1], seen.target_out, seen.source)
    shown = page.locator("#alignment .readout output").inner_text()
    assert shown.startswith(seen.target_out.words[0].text)
    assert number(shown.rpartition(": ")[2]) == pytest.approx(
        float(words[0, 1]), abs=6e-4
    )
    table = page.locator("#alignment .unseen td").all_inner_texts()
    assert [number(text) for text in table] == pytest.approx(
        words.flatten().tolist(), abs=6e-4
    )
    expect(page.locator("#ribbons svg.ribbons")).to_be_visible()
    page.get_by_role("button", name="erase and remeasure").click()
    settled(page)
    found = seen.attributions(0, 1)
    lost = merge_attention(found.erasure, seen.target_out, seen.source)
    table = page.locator("#alignment .unseen td").all_inner_texts()
    assert [number(text) for text in table] == pytest.approx(
        lost.flatten().tolist(), abs=6e-4
    )
    rows = page.locator("#agreement tbody td").all_inner_texts()
    assert [number(text) for text in rows] == pytest.approx(
        found.agreement.flatten().tolist(), abs=6e-3
    )


def test_heads(studio: Open, seen: Inspection) -> None:
    page = studio("heads", by="cost")
    profile = seen.head_profile([(seen.source_text, seen.target_text)])
    assert profile.ablation_cost is not None
    for kind in KINDS:
        shown = page.locator(f"#heads-{kind} .head-value").all_inner_texts()
        costs = profile.ablation_cost[kind].flatten().tolist()
        assert [number(text) for text in shown] == pytest.approx(costs, abs=6e-3)
    page.locator("#heads-encoder .head").nth(1).click()
    page.get_by_role("button", name="Switch encoder 1.2 off").click()
    total = page.locator("#ablation-total")
    expect(total).to_be_visible()
    settled(page)
    change = seen.ablate("encoder", 0, 1)
    assert number(total.inner_text()) == pytest.approx(change.total, abs=6e-4)
    deltas = page.locator(".deltas td.number").all_inner_texts()
    assert [number(text) for text in deltas] == pytest.approx(
        change.delta.tolist(), abs=6e-4
    )
    again = python_of(page, "heads-cross")["profile"]
    assert torch.equal(again.entropy["cross"], profile.entropy["cross"])
    page.get_by_role("button", name="validation text").click()
    page.get_by_role("button", name="Measure every head").click()
    expect(page.get_by_role("button", name="Run again")).to_be_visible(timeout=LONG)
    expect(page.locator("#heads-cross .head-value").first).to_be_visible()


def test_one_head(studio: Open, seen: Inspection) -> None:
    page = studio("head", kind="decoder", layer=1, head=1, j=2, key=1)
    walk = walk_through(seen, "decoder", 0, 0, 2, 1)
    assert number(page.locator("#score").inner_text()) == pytest.approx(
        float(walk.products.sum()), abs=1e-3
    )
    weights = page.locator("#softmax tbody td:nth-child(6)").all_inner_texts()
    assert [number(text) for text in weights] == pytest.approx(
        walk.weights.tolist(), abs=6e-5
    )
    assert float(page.locator("#largest-error").inner_text()) < 1e-4
    page.get_by_label("score after scaling").fill("9")
    page.get_by_role("button", name="Set").click()
    page.locator(".effect").wait_for()
    settled(page)
    edited = seen.edit("decoder", 0, 0, 2, 1, 9.0).after
    change = edited.log_probability - seen.log_probability
    assert number(page.locator(".effect output").inner_text()) == pytest.approx(
        change, abs=6e-4
    )
    weights = page.locator("#softmax tbody td:nth-child(6)").all_inner_texts()
    changed = walk_through(edited, "decoder", 0, 0, 2, 1).weights
    assert [number(text) for text in weights] == pytest.approx(
        changed.tolist(), abs=6e-5
    )
    walk_again = python_of(page, "softmax")["walk"]
    assert torch.equal(walk_again.weights, changed)
    page.get_by_label("without √dₖ").check()
    settled(page)
    assert "without" in page.url


def test_positions(studio: Open, seen: Inspection) -> None:
    page = studio("positions", offset=7, first=0, second=2)
    turned = rotation(position_table(seen.translator, 64), 7)
    assert float(page.locator("#rotation-error").inner_text()) == pytest.approx(
        turned.largest_error, rel=0.01
    )
    swapped = swap_words(seen, 0, 2)
    rows = page.locator("#swap tbody tr")
    expect(rows.nth(1)).to_contain_text(swapped.swapped.source_text)
    assert number(rows.nth(1).locator("td").last.inner_text()) == pytest.approx(
        swapped.swapped.log_probability, abs=6e-4
    )
    assert float(page.locator("#memory-change-without").inner_text()) < 1e-4
    assert torch.equal(
        python_of(page, "encoding")["table"], position_table(seen.translator, 64)
    )


def test_masks(studio: Open, seen: Inspection) -> None:
    page = studio("masks", j=2)
    expect(page.locator("#leak-value")).to_have_text("0")
    page.get_by_label("without masks").check()
    expect(page.locator(".verdict.bad")).to_be_visible()
    settled(page)
    open_ = seen.without("mask").after
    assert number(page.locator("#leak-value").inner_text()) == pytest.approx(
        leak_test(open_, 2).leak, rel=1e-3
    )


def test_stream(studio: Open, seen: Inspection) -> None:
    page = studio("stream", j=1)
    last = page.locator(".lens tbody tr").last.locator("td")
    guesses = logit_lens(seen)[-1].guesses
    expect(last).to_have_count(len(guesses))
    assert f"{100 * guesses[1].final_probability:.1f} %" in (
        last.nth(1).get_attribute("title") or ""
    )
    norm = seen.sublayers("decoder")[0].norm
    row = page.locator("#norms tbody tr").first.locator("td")
    assert number(row.nth(2).inner_text()) == pytest.approx(
        float(norm.variance[1]), abs=6e-5
    )
    assert python_of(page, "lens")["inspection"].target_text == seen.target_text
    page.get_by_role("button", name="encoder", exact=True).click()
    expect(page.locator("#lens")).to_have_count(0)


def test_training(studio: Open) -> None:
    page = studio("training")
    expect(page.locator("#updates")).to_have_text("60")
    expect(page.locator("#loss .u-wrap canvas")).to_be_visible()
    expect(page.locator("#rate")).to_contain_text("the paper's formula")
    expect(page.locator("#time-lapse canvas")).to_be_visible()
    assert len(python_of(page, "loss")["diary"]) >= 60


def test_compare(studio: Open, seen: Inspection) -> None:
    page = studio("compare")
    shown = page.locator("#translation-first").inner_text()
    assert shown.split() == seen.translation.split()
    page.get_by_role("button", name="Score both").click()
    expect(page.locator("svg.intervals")).to_be_visible(timeout=LONG)
    assert "words" in (page.locator("svg.intervals").get_attribute("aria-label") or "")


def test_examples(studio: Open, seen: Inspection) -> None:
    page = studio("examples")
    page.get_by_role("button", name="Translate the validation text").click()
    expect(page.get_by_role("button", name="Run again")).to_be_visible(timeout=LONG)
    page.get_by_role("columnheader", name="BLEU").get_by_role("button").click()
    scores = page.locator(".examples-table tbody td:nth-child(5)").all_inner_texts()
    values = [number(text) for text in scores]
    assert values == sorted(values)
    source = page.locator(".examples-table tbody td:nth-child(2)").first.inner_text()
    page.get_by_label("Open sentence").first.select_option("align")
    settled(page)
    assert page.locator("#sentence").input_value() == source
    expect(page.locator("#alignment canvas")).to_be_visible()


def test_why_attention(studio: Open) -> None:
    page = studio("why")
    page.get_by_role("button", name="Let dₖ grow").click()
    expect(page.locator("#scaling .data tbody tr")).to_have_count(len(WIDTHS))
    gradients = page.locator("#scaling .data tbody td:nth-child(3)").all_inner_texts()
    assert [number(text) for text in gradients] == pytest.approx(
        [row.gradient for row in saturation()], abs=6e-5
    )
    page.get_by_role("button", name="Swap words").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("called off")).to_be_visible()
