import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.cli.main import main
from dragoman.decoding.options import SearchOptions
from dragoman.engines.ctranslate2 import CTranslate2Engine, cores
from dragoman.engines.exports import find_export
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import ConfigError
from dragoman.model_folder import SavedModel, load_model

THOUSAND = 1000


@pytest.fixture(scope="module")
def saved(exported_folder: Path) -> SavedModel:
    return load_model(exported_folder)


@pytest.fixture(scope="module")
def engine(exported_folder: Path, saved: SavedModel) -> CTranslate2Engine:
    return CTranslate2Engine(find_export(exported_folder), saved.config.decoding)


@pytest.fixture(scope="module")
def options(saved: SavedModel) -> SearchOptions:
    settings = replace(saved.config.decoding, max_extra_tokens=8)
    return replace(SearchOptions.of(settings), max_repeats=0)


@pytest.fixture(scope="module")
def sources(saved: SavedModel, corpus: object) -> list[list[int]]:
    """A thousand sentences made of the phrasebook's words."""
    words = corpus.train_source.read_text("utf-8").split()  # type: ignore[attr-defined]
    rng = random.Random(1)
    texts = [
        " ".join(rng.choices(words, k=rng.randrange(1, 12))) for _ in range(THOUSAND)
    ]
    return saved.tokenizers.source.encode_many(texts)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_thousand_sentences_are_translated_as_by_pytorch(
    engine: CTranslate2Engine,
    saved: SavedModel,
    sources: list[list[int]],
    options: SearchOptions,
    beam_size: int,
) -> None:
    asked = replace(options, beam_size=beam_size)
    expected = PyTorchEngine(saved.model, saved.config.decoding).translate(
        sources, asked
    )
    found = engine.translate(sources, asked)
    assert [best.tokens for [best] in found] == [best.tokens for [best] in expected]


@pytest.mark.parametrize("size", [1, 7, 64])
def test_company_and_order_change_nothing(
    engine: CTranslate2Engine,
    sources: list[list[int]],
    options: SearchOptions,
    size: int,
) -> None:
    some = sources[:130]
    together = [best.tokens for [best] in engine.translate(some, options)]
    apart = [
        best.tokens
        for start in range(0, len(some), size)
        for [best] in engine.translate(some[start : start + size], options)
    ]
    backwards = [best.tokens for [best] in engine.translate(some[::-1], options)]
    assert together == apart == backwards[::-1]


def test_no_translation_is_longer_than_it_may_be(
    engine: CTranslate2Engine, sources: list[list[int]], options: SearchOptions
) -> None:
    for beam_size in (1, 3):
        asked = replace(
            options, beam_size=beam_size, nbest=beam_size, max_extra_tokens=1
        )
        for source, found in zip(
            sources[:50], engine.translate(sources[:50], asked), strict=True
        ):
            for hypothesis in found:
                length = len(hypothesis.tokens) + hypothesis.finished
                assert length <= len(source) + 1
    short = replace(options, max_length=3)
    assert all(
        len(best.tokens) <= 3 for [best] in engine.translate(sources[:20], short)
    )


def test_scores_are_those_of_the_tokens(
    engine: CTranslate2Engine, sources: list[list[int]], options: SearchOptions
) -> None:
    asked = replace(options, nbest=4)
    for found in engine.translate(sources[:9], asked, token_scores=True):
        assert len(found) == 4
        scores = [(h.finished, h.score) for h in found]
        assert scores == sorted(scores, reverse=True)
        for hypothesis in found:
            parts = hypothesis.token_log_probabilities
            length = len(hypothesis.tokens) + hypothesis.finished
            assert len(parts) == length
            assert sum(parts) == pytest.approx(hypothesis.log_probability, abs=1e-4)
            assert hypothesis.score == pytest.approx(
                hypothesis.log_probability / asked.penalty(length)
            )


def test_nothing_in_gives_nothing_out(engine: CTranslate2Engine) -> None:
    assert engine.translate([]) == []


def test_a_worker_for_each_core_unless_asked(
    exported_folder: Path, saved: SavedModel, engine: CTranslate2Engine
) -> None:
    assert engine.workers == cores() >= 1
    alone = CTranslate2Engine(
        find_export(exported_folder), saved.config.decoding, workers=1
    )
    assert alone.workers == 1


def test_what_it_cannot_do_as_pytorch_does_is_refused(
    engine: CTranslate2Engine, options: SearchOptions
) -> None:
    assert engine.why_not(options, 100) is None
    with pytest.raises(ConfigError) as caught:
        engine.translate([[5]], replace(options, no_repeat_ngram=2))
    assert str(caught.value) == (
        "CTranslate2 has only greedy and plain beam search, over all tokens: use the "
        "engine pytorch for this"
    )
    with pytest.raises(ConfigError) as caught:
        engine.translate([[5] * 5000], options)
    assert str(caught.value) == (
        "this export has only 1,024 positions: use the engine pytorch for this"
    )


@pytest.mark.parametrize("quantization", ["int8", "int16", "float16", "float32"])
def test_what_it_really_computes_in_is_said_in_our_words(
    quantization: str,
    model_folder: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    import ctranslate2

    # What this processor does not do is left to the next best, as CTranslate2 would.
    done = ctranslate2.get_supported_compute_types("cpu")
    instead = {"int16": "int8", "float16": "float32"}
    real = quantization if quantization in done else instead[quantization]
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    wanted = ["--to=ctranslate2", f"--quantization={quantization}"]
    assert main(["export", str(folder), *wanted]) == 0
    assert main(["translate", str(folder), "Good morning!", "-v", "--threads=1"]) == 0
    said = capfd.readouterr().err
    why = f", as this processor does not do {quantization}, "
    why = ", " if real == quantization else why
    assert f"translating with ctranslate2 ({real}{why}1 worker)" in said
    expected = f"this processor does not compute in {quantization}: "
    assert (expected in said) == (real != quantization)
    assert "[warning]" not in said
    assert "RuntimeWarning" not in said
