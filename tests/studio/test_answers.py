"""What the page is told is what the Python API says, number for number."""

import struct
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.testclient import TestClient
from tests.studio.conftest import SENTENCE, TARGET, Ask

from dragoman.inspection.attention import KINDS
from dragoman.inspection.change import Change
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.leaks import leak_test
from dragoman.inspection.logit_lens import logit_lens
from dragoman.inspection.order import position_table, rotation, swap_words
from dragoman.inspection.tokens import merge_attention
from dragoman.inspection.walk_through import walk_through
from dragoman.studio.app import PAGES
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def seen(toy: Translator) -> Inspection:
    return inspect(toy, SENTENCE, TARGET)


def tensor(response: Any) -> torch.Tensor:
    shape = [int(size) for size in response.headers["x-shape"].split(",")]
    assert response.headers["x-type"] == "float32"
    numbers = struct.unpack(f"<{len(response.content) // 4}f", response.content)
    return torch.tensor(numbers).reshape(shape)


def test_every_page_has_an_address(client: TestClient) -> None:
    for path in ("/", *(f"/{page}" for page in PAGES)):
        assert "<title>Dragoman studio</title>" in client.get(path).text
    assert client.get("/nothing").status_code == 404


def test_models_are_described(ask: Ask, toy: Translator, model_folder: Path) -> None:
    first, *checkpoints = ask("models")
    assert first["name"] == model_folder.name
    assert first["languages"] == list(toy.saved.languages)
    assert (first["decoder_layers"], first["heads"]) == (1, 2)
    assert first["step"] is None
    assert all(one["step"] > 0 for one in checkpoints)


def test_a_run_has_the_words_of_both_sides(ask: Ask, seen: Inspection) -> None:
    run = ask("inspect")
    assert run["source"]["pieces"] == list(seen.source.pieces)
    assert [w["text"] for w in run["target"]["words"]] == [
        word.text for word in seen.target_out.words
    ]
    assert run["translation"] == seen.target_text
    assert run["log_probability"] == pytest.approx(seen.log_probability)
    assert run["effect"] is None


def test_changes_have_the_effect_that_the_api_says(ask: Ask, seen: Inspection) -> None:
    run = ask("inspect", changes=["ablate:cross.0.1", "without:scaling"])
    after = seen.ablate("cross", 0, 1).after.without("scaling").after
    change = Change("", seen, after)
    assert run["log_probability"] == pytest.approx(after.log_probability)
    assert run["effect"]["delta"] == pytest.approx(change.delta.tolist(), abs=1e-6)
    assert run["effect"]["total"] == pytest.approx(change.total)
    assert run["effect"]["translation_before"] == seen.translation
    assert run["effect"]["translation"] == after.translation


def test_a_beginning_can_be_forced(ask: Ask, seen: Inspection) -> None:
    token = seen.predictions(10)[1].alternatives[-1].token
    prefix = [seen.target_out.ids[0], token]
    run = ask("inspect", changes=[f"force:{prefix[0]}.{prefix[1]}"])
    forced = seen.force(prefix).after
    assert run["target"]["ids"][:2] == prefix
    assert run["translation"] == forced.target_text
    assert run["begins"] == seen.translator.tokenizers.target.decode(prefix)


def test_a_reference_is_followed(ask: Ask, seen: Inspection) -> None:
    verdict = seen.reference("¿Dónde?")
    answer = ask("reference", reference="¿Dónde?")
    assert (answer["blame"], answer["step"]) == (verdict.blame, verdict.step)
    assert answer["score"] == pytest.approx(verdict.score)


def test_heads_are_measured(ask: Ask, seen: Inspection) -> None:
    pair = [(seen.source_text, seen.target_text)]
    answer = ask("heads", ablation="with")
    expected = seen.head_profile(pair)
    assert expected.ablation_cost is not None
    for kind in KINDS:
        assert answer["entropy"][kind] == expected.entropy[kind].tolist()
        assert answer["cost"][kind] == expected.ablation_cost[kind].tolist()
    assert ask("heads")["cost"] is None
    job = wait_for(ask, ask("profile"))
    assert job["state"] == "done", job
    assert job["done"] == job["total"]
    best = ask("best_head")
    assert 0 <= best["score"] <= 1


def test_four_measures_and_their_agreement(ask: Ask, seen: Inspection) -> None:
    found = seen.attributions(0, 1)
    answer = tensor(ask("attributions", layer=0, head=1, unit="piece"))
    assert torch.equal(answer[3], found.erasure)
    agreement = ask("agreement", layer=0, head=1)["agreement"]
    assert agreement == found.agreement.tolist()


def test_thumbnails_are_half_precision(ask: Ask, seen: Inspection) -> None:
    response = ask("thumbnails", kind="encoder")
    assert response.headers["x-type"] == "float16"
    weights = seen.attention("encoder")
    assert len(response.content) == 2 * weights.numel()
    halves = struct.unpack(f"<{weights.numel()}e", response.content)
    torch.testing.assert_close(
        torch.tensor(halves), weights.flatten(), atol=1e-3, rtol=1e-3
    )


def test_predictions_and_search_are_those_of_the_api(
    ask: Ask, seen: Inspection
) -> None:
    answer = ask("translate")
    assert [p["predicts"] for p in answer["predictions"]] == [
        p.predicts for p in seen.predictions(10)
    ]
    assert all(len(p["alternatives"]) == 10 for p in answer["predictions"])
    assert [(n["score"], n["fate"]) for n in answer["tree"]["nodes"]] == [
        (node.score, node.fate) for node in seen.beam.nodes
    ]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention_comes_by_head_mean_piece_and_word(
    ask: Ask, seen: Inspection, kind: Any
) -> None:
    weights = seen.attention(kind)[0]
    by_piece = tensor(ask("attention", kind=kind, layer=0, head=1, unit="piece"))
    assert torch.equal(by_piece, weights[1])
    mean = weights.mean(dim=0)
    by_word = tensor(ask("attention", kind=kind, layer=0, unit="word"))
    merged = merge_attention(mean, seen.rows(kind), seen.columns(kind))
    torch.testing.assert_close(by_word, merged)


def test_one_head_is_walked_through(ask: Ask, seen: Inspection) -> None:
    answer = ask("head", kind="decoder", layer=0, head=1, query=1, key=2)
    walked = walk_through(seen, "decoder", 0, 1, 1, 2)
    assert answer["products"] == pytest.approx(walked.products.tolist())
    assert answer["weights"] == pytest.approx(walked.weights.tolist())
    assert answer["masked"][2] is None  # the future: JSON has no −∞
    assert answer["largest_error"] == walked.largest_error


def test_positions_and_swaps(ask: Ask, seen: Inspection) -> None:
    table = position_table(seen.translator, 64)
    assert torch.equal(tensor(ask("position_rows")), table)
    answer = ask("positions", offset=5)
    turned = rotation(table, 5)
    assert answer["rotation"]["largest_error"] == turned.largest_error
    swapped = ask("swap", first=0, second=2)
    expected = swap_words(seen, 0, 2)
    assert swapped["swapped"]["source_text"] == expected.swapped.source_text
    assert swapped["swapped"]["log_probability"] == pytest.approx(
        expected.swapped.log_probability
    )


def test_masks_and_leaks(ask: Ask, seen: Inspection) -> None:
    answer = ask("masks")
    assert len(answer["sources"]) == 3
    assert len({len(row) for row in answer["padding"]}) == 1
    leak = ask("leak", place=2)
    assert leak["leak"] == 0
    assert leak["differences"] == pytest.approx(leak_test(seen, 2).differences.tolist())
    assert ask("leak", place=2, changes=["without:mask"])["leak"] > 0


def test_the_stream_and_what_it_would_say(ask: Ask, seen: Inspection) -> None:
    answer = ask("stream")
    expected = [s.lengths.tolist() for s in seen.sublayers("decoder")]
    assert [s["lengths"] for s in answer["decoder"]] == [
        pytest.approx(lengths) for lengths in expected
    ]
    assert [[g["piece"] for g in row["guesses"]] for row in answer["lens"]] == [
        [guess.piece for guess in row.guesses] for row in logit_lens(seen)
    ]


def test_training_is_read_from_the_diary(ask: Ask) -> None:
    answer = ask("training")
    assert answer["train"]["step"] == list(range(1, 61))
    assert len(answer["paper_rate"]) == 60
    assert answer["finished"] is True
    assert 0 <= answer["padding_share"] < 1


def wait_for(ask: Ask, job: Any) -> Any:
    for _ in range(600):
        job = ask("job", number=job["number"])
        if job["state"] != "running":
            return job
        time.sleep(0.05)
    raise AssertionError("the job never ended")


def test_two_models_are_compared(ask: Ask, seen: Inspection) -> None:
    other = ask("models")[1]["name"]
    answer = ask("compare", other=other)
    assert answer["runs"][0]["translation"] == seen.translation
    kept = [part["text"] for part in answer["difference"] if part["fate"] != "added"]
    assert " ".join(kept).split() == seen.translation.split()
    job = wait_for(ask, ask("compare_scores", other=other))
    assert job["state"] == "done", job
    for buckets in job["result"]["models"]:
        assert sum(bucket["count"] for bucket in buckets) == job["result"]["sentences"]


def test_examples_are_the_validation_text(ask: Ask, toy: Translator) -> None:
    job = wait_for(ask, ask("examples"))
    assert job["state"] == "done", job
    assert [row["number"] for row in job["result"]] == list(
        range(1, len(job["result"]) + 1)
    )
    row = job["result"][0]
    assert row["translation"] == toy.translate(row["source"])


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("inspect", {"source": " "}, "the sentence is blank: give one to look at"),
        ("inspect", {"model": "x"}, "there is no model 'x' here: choose one of"),
        ("attention", {"layer": 9}, "layer is 9: give 0 to 0"),
        ("attention", {"kind": "far"}, "kind is 'far': choose one of encoder"),
        ("inspect", {"changes": ["ablate:cross.7.0"]}, "there is no layer 7"),
        ("job", {"number": 999}, "there is no job 999: begin it again"),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    client: TestClient, model_folder: Path, name: str, fields: Any, message: str
) -> None:
    question = {"model": model_folder.name, "source": SENTENCE, **fields}
    response = client.post(f"/api/{name}", json=question)
    assert response.status_code == 400
    assert response.json()["error"].startswith(message)
    assert "\n" not in response.json()["error"]
