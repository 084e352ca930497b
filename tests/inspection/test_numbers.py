import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.inspection.attention import KINDS
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.numbers import to_dict, write_npz
from dragoman.translator import Translator


def test_the_dictionary_is_json_and_complete(seen: Inspection) -> None:
    values = json.loads(json.dumps(to_dict(seen)))
    assert values["source"]["text"] == seen.source_text
    assert values["target"]["pieces"] == list(seen.target_out.pieces)
    for kind in KINDS:
        weights = torch.tensor(values["attention"][kind])
        torch.testing.assert_close(weights, seen.attention(kind))
    assert values["log_probability"] == pytest.approx(seen.log_probability)
    best = values["beam"]["nodes"][values["beam"]["best"]]
    assert best["score"] == seen.beam.result.score


def test_every_tensor_is_in_the_archive(seen: Inspection, tmp_path: Path) -> None:
    write_npz(seen, tmp_path / "seen.npz")
    with np.load(tmp_path / "seen.npz", allow_pickle=False) as arrays:
        for kind in KINDS:
            for layer, attention in enumerate(seen.layers(kind)):
                weights = arrays[f"{kind}.{layer}.weights"]
                np.testing.assert_array_equal(weights, attention.weights.numpy())
        np.testing.assert_array_equal(arrays["logits"], seen.logits.numpy())
        assert arrays["source.pieces"].tolist() == list(seen.source.pieces)
        assert "decoder.2.cross-attention.norm.variance" in arrays


def test_a_blank_sentence_has_no_search(toy: Translator) -> None:
    assert "beam" not in to_dict(inspect(toy, ""))
