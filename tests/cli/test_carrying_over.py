import json
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.cli.carrying_over import Notes, report_column
from dragoman.cli.main import main
from dragoman.text.carried import Carried, Outcome
from dragoman.text.checks import Concern
from dragoman.translation import NOTHING
from dragoman.translator import Translator

Captured = pytest.CaptureFixture[bytes]


@pytest.fixture
def glossary(tmp_path: Path) -> Path:
    path = tmp_path / "terms.tsv"
    path.write_text("station|stations\tparada|paradas\nBoston\t\n", "utf-8")
    return path


def run(captured: Captured, *arguments: object) -> tuple[list[str], str]:
    assert main(["translate", *map(str, arguments)]) == 0
    out, err = captured.readouterr()
    return out.decode().splitlines(), err.decode()


def test_terms_and_spans_are_there_and_the_report_says_so(
    model_folder: Path, glossary: Path, capsysbinary: Captured
) -> None:
    sentences = ["Where is the station, {name}?", "Good morning!"]
    lines, said = run(
        capsysbinary, model_folder, *sentences, "--glossary", glossary, "--report"
    )
    text, report = lines[0].split("\t")
    assert "arada" in text
    assert "{name}" in text
    assert report.split("; ")[0] == "{name}"
    assert report.split("; ")[1].startswith("station → ")
    assert lines[1].split("\t")[1] == ""
    assert said == ""


def test_lines_of_a_glossary_with_other_than_two_columns_are_pointed_out(
    model_folder: Path, glossary: Path, capsysbinary: Captured
) -> None:
    glossary.write_text("Boston\ntea  té\n\nhouse\tcasa\tcasita\nsea\tmar\t\n", "utf-8")
    lines, said = run(capsysbinary, model_folder, "Hello.", "--glossary", glossary)
    assert len(lines) == 1
    assert said.splitlines() == [
        f"dragoman: line 1 of {glossary} has no tab: 'Boston' is taken for a term that "
        "stays as it is (a tab at its end says so)",
        f"dragoman: line 2 of {glossary} has no tab: 'tea  té' is taken for a term "
        "that stays as it is (a tab at its end says so)",
        f"dragoman: line 4 of {glossary} has 3 columns: 'casita' is taken for another "
        "form of 'casa' (forms are better separated by |)",
    ]


def test_nbest_have_a_report_too(
    model_folder: Path, glossary: Path, capsysbinary: Captured
) -> None:
    options = ("--nbest", 2, "--glossary", glossary, "--report")
    lines, _ = run(capsysbinary, model_folder, "Where is Boston?", *options)
    for line in lines:
        number, _, text, report = line.split("\t")
        assert (number, report) == ("1", "Boston")
        assert "Boston" in text


def test_documents_keep_what_is_around_sentences(
    model_folder: Path, capsysbinary: Captured
) -> None:
    line = "  - Good morning! Where is the station?"
    lines, _ = run(capsysbinary, model_folder, line, "", "--document")
    one, two = run(
        capsysbinary, model_folder, "Good morning!", "Where is the station?"
    )[0]
    assert lines == [f"  - {one} {two}", ""]


def test_long_lines_are_counted_once(
    model_folder: Path, capsysbinary: Captured
) -> None:
    long = "where is the station, " * 60
    lines, said = run(capsysbinary, model_folder, long, long, "Hello.", "--beam", 1)
    assert len(lines) == 3
    longest = Translator.load(model_folder).longest
    assert f"2 lines were longer than the {longest} tokens" in said
    assert "cut at punctuation" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--glossary", "nowhere.tsv"], "cannot read the glossary nowhere.tsv"),
        (["--document", "--nbest", "2"], "--document does not go with --nbest"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    model_folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    assert main(["translate", str(model_folder), "Hello.", *arguments]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_what_found_no_place_is_said_with_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lost = Carried("tag", "<b>", "<b>", Outcome.APPENDED)
    kept = Carried("term", "a", "b", Outcome.PLACED)
    translation = replace(NOTHING, report=(kept, lost))
    Notes().take(7, translation)
    assert capsys.readouterr().err == ("dragoman: line 7: appended: <b>; look at it\n")
    assert report_column(translation) == "a → b; appended: <b>"


def test_lines_that_are_not_verified_are_summed_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notes = Notes()
    doubtful = replace(NOTHING, concerns=(Concern("repeated", "'la' is repeated"),))
    for line in range(1, 13):
        notes.take(line, doubtful)
    notes.take(13, NOTHING)
    notes.finish(256)
    assert capsys.readouterr().err == (
        "dragoman: 12 lines are not verified (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …): "
        "something may be lost or invented there; --report says what\n"
    )
    assert report_column(doubtful) == "check: 'la' is repeated"


def test_splitting_can_be_switched_off(
    model_folder: Path, capsysbinary: Captured
) -> None:
    line = "Good morning! Where is the station?"
    split, _ = run(capsysbinary, model_folder, line)
    whole, _ = run(capsysbinary, model_folder, line, "--one-sentence-per-line")
    parts, _ = run(capsysbinary, model_folder, "Good morning!", "Where is the station?")
    assert split == [" ".join(parts)]
    assert whole != split


def test_json_says_whether_a_line_is_verified(
    model_folder: Path, capsysbinary: Captured
) -> None:
    lines, _ = run(capsysbinary, model_folder, "I am 25.", "--json")
    found = json.loads(lines[0])
    assert found["verified"] == (not found["concerns"])
    assert found["report"][0]["outcome"] == "placed"


def test_evaluation_uses_the_glossary(
    model_folder: Path, glossary: Path, tmp_path: Path
) -> None:
    files = {"source": "Where is the station?\n", "reference": "¿Dónde está?\n"}
    options = []
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
        options += [f"--{name}", str(tmp_path / name)]
    output = str(tmp_path / "out")
    options += ["--glossary", str(glossary), "--output", output]
    assert main(["evaluate", str(model_folder), *options]) == 0
    assert "arada" in Path(output).read_text("utf-8")
