import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import CorpusError, EvaluationError, ModelFolderError
from dragoman.evaluation import report as report_module
from dragoman.evaluation.metrics import score
from dragoman.evaluation.report import EvaluationReport, evaluate, plainly
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def report(model_folder: Path, corpus: Any) -> EvaluationReport:
    return evaluate(
        model_folder, source=corpus.valid_source, reference=corpus.valid_target
    )


@pytest.fixture(scope="module")
def compared(model_folder: Path, corpus: Any) -> EvaluationReport:
    return evaluate(
        str(model_folder),
        source=str(corpus.valid_source),
        reference=str(corpus.valid_target),
        against=model_folder,
        beam_size=1,
    )


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_the_report_is_of_the_models_own_translations(
    report: EvaluationReport, model_folder: Path, corpus: Any
) -> None:
    translator = Translator.load(model_folder)
    options = plainly(translator.options)
    expected = translator.translate(lines(corpus.valid_source), options=options)
    assert list(report.translations) == expected
    assert report.scores == score(expected, lines(corpus.valid_target))
    assert report.sentences == len(expected)


def test_every_sentence_is_in_one_bucket_of_lengths(report: EvaluationReport) -> None:
    assert sum(bucket.count for bucket in report.by_length) == report.sentences


def test_the_beam_that_is_asked_for_is_used(
    compared: EvaluationReport, model_folder: Path, corpus: Any
) -> None:
    translator = Translator.load(model_folder)
    options = replace(plainly(translator.options), beam_size=1)
    greedy = translator.translate(lines(corpus.valid_source), options=options)
    assert list(compared.translations) == greedy


def test_a_model_against_itself_differs_in_nothing(compared: EvaluationReport) -> None:
    assert compared.against_scores == compared.scores
    assert compared.comparisons
    for comparison in compared.comparisons:
        assert comparison.difference == 0
        assert comparison.p_value == pytest.approx(1)


def test_alone_there_is_no_comparison(report: EvaluationReport) -> None:
    assert (report.against, report.against_scores) == (None, None)
    assert report.comparisons == ()
    assert not {"against", "comparison"} & set(report.to_dict())


def test_the_report_as_plain_data_survives_json(compared: EvaluationReport) -> None:
    plain = compared.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert {"model", "sentences", "bleu", "chrf", "ter", "by_length"} <= set(plain)
    assert plain["against"]["bleu"] == plain["bleu"]
    assert len(plain["comparison"]) == len(compared.comparisons)


def test_the_table_shows_both_models_and_every_score(
    report: EvaluationReport, compared: EvaluationReport
) -> None:
    table = report.table()
    assert table.startswith(f"{report.model}: {report.sentences:,} sentences\n")
    for told in ("BLEU", "chrF2", "TER", "words", report.scores.bleu.signature):
        assert told in table
    both = compared.table()
    assert both.count(compared.scores.table()) == 2
    for comparison in compared.comparisons:
        assert comparison.sentence() in both


def test_a_small_test_set_is_called_small(report: EvaluationReport) -> None:
    warning = "fewer than 100 sentences"
    assert report.sentences < 100
    assert warning in report.table()
    assert warning not in replace(report, sentences=100).table()


def test_case_can_be_made_not_to_count(
    model_folder: Path, corpus: Any, tmp_path: Path
) -> None:
    loud = tmp_path / "loud.es"
    loud.write_text(corpus.valid_target.read_text("utf-8").upper(), "utf-8")
    as_written, folded = (
        evaluate(
            model_folder,
            source=corpus.valid_source,
            reference=loud,
            beam_size=1,
            lowercase=lowercase,
        ).scores
        for lowercase in (False, True)
    )
    assert folded.chrf.score > as_written.chrf.score
    assert folded.bleu.signature != as_written.bleu.signature


def test_how_many_are_translated_at_once_changes_nothing(
    report: EvaluationReport,
    model_folder: Path,
    corpus: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report_module, "SENTENCES_AT_ONCE", 7)
    again = evaluate(
        model_folder, source=corpus.valid_source, reference=corpus.valid_target
    )
    assert again == report


def test_progress_is_shown_only_if_asked(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text"
    text.write_text("Good morning!\n", "utf-8")
    evaluate(model_folder, source=text, reference=text, beam_size=1)
    assert capsys.readouterr() == ("", "")
    evaluate(model_folder, source=text, reference=text, beam_size=1, progress=True)
    output = capsys.readouterr()
    assert output.out == ""
    assert f"translating with {model_folder}" in output.err


def test_unequal_files_are_told_apart_in_one_line(
    model_folder: Path, tmp_path: Path
) -> None:
    source, reference = tmp_path / "test.en", tmp_path / "test.es"
    source.write_text("One.\nTwo.\nThree.\n", "utf-8")
    reference.write_text("Uno.\n", "utf-8")
    with pytest.raises(EvaluationError) as raised:
        evaluate(model_folder, source=source, reference=reference)
    assert str(raised.value) == (
        f"{source} has 3 lines but {reference} has 1: each line needs its reference on "
        "the same line"
    )


def test_an_empty_test_set_is_refused(model_folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises((EvaluationError, CorpusError), match="empty") as raised:
        evaluate(model_folder, source=empty, reference=empty)
    assert "\n" not in str(raised.value)


def test_a_missing_file_or_model_is_one_line(
    model_folder: Path, corpus: Any, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere"
    with pytest.raises(CorpusError, match="nowhere") as missing:
        evaluate(model_folder, source=nowhere, reference=corpus.valid_target)
    with pytest.raises(ModelFolderError, match="there is no model folder") as no_model:
        evaluate(nowhere, source=corpus.valid_source, reference=corpus.valid_target)
    assert "\n" not in f"{missing.value}{no_model.value}"
