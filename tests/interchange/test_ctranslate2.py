"""An exported model says, token for token, what the model itself says."""

import json
import math
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from dragoman.config import PRESETS, load_preset
from dragoman.decoding.options import SearchOptions
from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.engines.exports import Export
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import ConfigError, ExportError, ModelFolderError
from dragoman.interchange.ctranslate2 import export_ctranslate2, vocabulary
from dragoman.model.transformer import Transformer
from dragoman.model_folder import build_for, load_model, save_model
from dragoman.text.tokenizer_pair import TokenizerPair

pytestmark = pytest.mark.usefixtures("ctranslate2")

SMALL: dict[str, Any] = {
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 1,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "post-norm": {"model.norm": "post"},
    "pre-norm": {"model.norm": "pre"},
    "untied": {"model.tie_embeddings": False},
    "learned positions": {"model.positions": "learned", "model.max_positions": 90},
    "narrow heads": {"model.d_head": 4},
    "rms norm": {"model.norm_kind": "rms"},
    "rms norm first": {"model.norm_kind": "rms", "model.norm": "pre"},
    "gelu": {"model.activation": "gelu"},
    "swiglu": {"model.activation": "swiglu", "model.norm": "pre"},
    "rotary": {"model.positions": "rotary"},
    "grouped": {"model.num_heads": 4, "model.num_kv_heads": 2},
    "unscaled": {"model.attention_scale": False},
    "swish and output bias": {"model.activation": "swish", "model.output_bias": True},
    "quick gelu and last norm": {
        "model.activation": "quick_gelu",
        "model.last_norm": True,
    },
    "sources without an end": {"model.source_end": False},
    "embedding norm": {"model.embedding_norm": True, "model.norm_epsilon": 1e-3},
    "modern": {
        "model.norm": "pre",
        "model.norm_kind": "rms",
        "model.num_kv_heads": 1,
        "model.activation": "swiglu",
        "model.positions": "rotary",
    },
}

TRANSFORMERS = [n for n in PRESETS if load_preset(n).model.kind == "transformer"]


def sentences(count: int, vocabulary_size: int) -> list[list[int]]:
    rng = random.Random(3)
    return [
        [rng.randrange(4, vocabulary_size) for _ in range(rng.randrange(1, 12))]
        for _ in range(count)
    ]


def unsettled(model: nn.Module) -> None:
    """Move norms and biases away from ones and zeros, so that a lost one shows."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))


def make(
    toy: Path,
    folder: Path,
    preset: str,
    settings: dict[str, Any],
    shared: bool,
    change: Callable[[Transformer], None] = lambda _: None,
) -> Path:
    """Save a model of random weights with the tokenizer of the toy model."""
    torch.manual_seed(1)
    tokenizer = TokenizerPair.load(toy).source
    other = tokenizer if shared else TokenizerPair.load(toy).source
    tokenizers = TokenizerPair(tokenizer, other)
    config = load_preset(preset).with_settings(SMALL | settings)
    model = build_for(config, tokenizers)
    assert isinstance(model, Transformer)
    unsettled(model)
    change(model)
    save_model(folder, model, tokenizers, config, ("en", "es"), "")
    return folder


def assert_equal(folder: Path, export: Export, count: int) -> None:
    saved = load_model(folder)
    settings = replace(saved.config.decoding, max_extra_tokens=6)
    theirs = CTranslate2Engine(export, settings, workers=1)
    ours = PyTorchEngine(saved.model, settings)
    sources = sentences(count, saved.tokenizers.source.vocabulary_size)
    options = replace(SearchOptions.of(settings), max_repeats=0)
    for asked in (replace(options, beam_size=1), replace(options, nbest=3)):
        expected = ours.translate(sources, asked)
        found = theirs.translate(sources, asked, token_scores=True)
        for a, b in zip(expected, found, strict=True):
            assert [(h.tokens, h.finished) for h in a] == [
                (h.tokens, h.finished) for h in b
            ]
            for x, y in zip(a, b, strict=True):
                assert x.score == pytest.approx(y.score, abs=1e-4)
                assert x.log_probability == pytest.approx(y.log_probability, abs=1e-4)
                assert x.token_log_probabilities == pytest.approx(
                    y.token_log_probabilities, abs=1e-4
                )


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "separate"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_shape_gives_the_same_translations(
    model_folder: Path,
    tmp_path: Path,
    sure_of_words: Callable[[Transformer], None],
    variant: str,
    shared: bool,
) -> None:
    folder = make(
        model_folder,
        tmp_path / "m",
        "base",
        VARIANTS[variant],
        shared,
        sure_of_words,
    )
    assert_equal(folder, export_ctranslate2(folder, "float32"), 12)


@pytest.mark.parametrize("preset", TRANSFORMERS)
def test_every_preset_gives_the_same_translations(
    model_folder: Path,
    tmp_path: Path,
    sure_of_words: Callable[[Transformer], None],
    preset: str,
) -> None:
    layers = load_preset(preset).model
    settings = {
        "model.num_encoder_layers": layers.num_encoder_layers,
        "model.num_decoder_layers": layers.num_decoder_layers,
        "model.num_heads": layers.num_heads,
    }
    folder = make(model_folder, tmp_path / "m", preset, settings, True, sure_of_words)
    assert_equal(folder, export_ctranslate2(folder, "float32"), 6)


@pytest.mark.parametrize("quantization", ["int8", "int16"])
def test_a_quantized_export_is_small_and_nearly_the_model(
    model_folder: Path, tmp_path: Path, quantization: str
) -> None:
    saved = load_model(model_folder)
    small = export_ctranslate2(model_folder, quantization, tmp_path / "small")
    large = export_ctranslate2(model_folder, "float32", tmp_path / "large")
    assert small.quantization == quantization
    sizes = [(e.folder / "model.bin").stat().st_size for e in (small, large)]
    assert sizes[0] < 0.8 * sizes[1]
    # A model that has hardly learned is never sure which word comes next, and integers
    # are summed in other ways on every processor: but to each word that the one model
    # chose, the other gives much the same chance.
    sources = sentences(20, saved.tokenizers.source.vocabulary_size)
    engines = [
        CTranslate2Engine(export, saved.config.decoding, workers=1)
        for export in (small, large)
    ]
    chosen = engines[1].translate(sources)
    found, expected = (
        [
            score
            for [best] in engine.with_token_scores(sources, chosen)
            for score in best.token_log_probabilities
        ]
        for engine in engines
    )
    apart = torch.tensor(found) - torch.tensor(expected)
    least = math.log(saved.tokenizers.target.vocabulary_size)  # had it learned nothing
    assert apart.abs().mean() < least / 10


def test_an_export_is_whole_and_stands_alone(
    model_folder: Path, tmp_path: Path
) -> None:
    export = export_ctranslate2(model_folder, "int8", tmp_path / "out")
    names = {path.name for path in export.folder.iterdir()}
    assert names == {
        "config.json",
        "export.json",
        "model.bin",
        "shared_vocabulary.json",
        "tokenizer.model",
        "SHA256SUMS",
    }
    export.check()
    assert Export.read(export.folder) == export
    assert list(tmp_path.iterdir()) == [export.folder]


def test_an_older_export_is_replaced(model_folder: Path, tmp_path: Path) -> None:
    first = export_ctranslate2(model_folder, "float32", tmp_path / "out")
    again = export_ctranslate2(model_folder, "int8", tmp_path / "out")
    assert (first.folder, again.quantization) == (again.folder, "int8")


def test_what_is_no_export_is_not_replaced(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    for place in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(ExportError) as caught:
            export_ctranslate2(model_folder, "int8", place)
        assert str(caught.value) == (
            f"{place} is there already and is not an export: give another place with "
            "--output"
        )
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_a_place_that_cannot_be_written_is_said(
    model_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match=r"cannot write .* give a place that can be"):
        export_ctranslate2(model_folder, "int8", tmp_path / "file" / "out")


def test_what_ctranslate2_cannot_hold_is_refused(
    model_folder: Path, tmp_path: Path
) -> None:
    folder = make(
        model_folder, tmp_path / "m", "base", {"model.positions": "none"}, True
    )
    with pytest.raises(ExportError) as caught:
        export_ctranslate2(folder)
    assert str(caught.value) == (
        'a model with model.positions="none" cannot be exported: CTranslate2 adds '
        "positions to every embedding"
    )
    assert not list(folder.glob("ctranslate2*"))


@pytest.mark.parametrize(
    ("setting", "value", "known"),
    [
        ("positions", "alibi", "sinusoidal, learned, rotary"),
        ("norm_kind", "batch", "layer, rms"),
        ("norm_kind", "none", "layer, rms"),
    ],
)
def test_variants_that_ctranslate2_does_not_know_are_refused(
    model_folder: Path, tmp_path: Path, setting: str, value: str, known: str
) -> None:
    settings = {f"model.{setting}": value}
    folder = make(model_folder, tmp_path / "m", "base", settings, True)
    with pytest.raises(ExportError) as caught:
        export_ctranslate2(folder)
    assert str(caught.value) == (
        f'a model with model.{setting}="{value}" cannot be exported: CTranslate2 knows '
        f"{known}"
    )


def test_unknown_quantizations_and_damaged_models_are_refused(
    model_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="there is no quantization 'int3'"):
        export_ctranslate2(model_folder, "int3")
    damaged = tmp_path / "damaged"
    shutil.copytree(model_folder, damaged)
    (damaged / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelFolderError, match="truncated or altered"):
        export_ctranslate2(damaged)


def test_pieces_that_read_alike_get_names_of_their_own(model_folder: Path) -> None:
    class Alike:
        vocabulary_size = 4

        def pieces(self, ids: range) -> list[str]:
            return ["a", "b", "a", "a"]

    names = vocabulary(Alike())  # type: ignore[arg-type]
    assert names == ["a", "b", "a#2", "a#3"]


def test_the_manifest_names_what_the_export_was_made_from(
    model_folder: Path, tmp_path: Path
) -> None:
    export = export_ctranslate2(model_folder, "int8", tmp_path / "out")
    manifest = json.loads((export.folder / "export.json").read_text())
    assert set(manifest["made_from"]) == {
        "config.json",
        "model.safetensors",
        "tokenizer.model",
    }


def test_a_recurrent_model_cannot_be_exported(
    recurrent_folders: dict[str, Path], ctranslate2: None
) -> None:
    with pytest.raises(ExportError, match="knows Transformers only") as raised:
        export_ctranslate2(recurrent_folders["gru"])
    assert "\n" not in str(raised.value)
