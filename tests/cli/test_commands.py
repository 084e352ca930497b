import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.main import main

Run = subprocess.CompletedProcess[str]


def dragoman(*arguments: object, stdin: str | None = None) -> Run:
    return subprocess.run(
        [sys.executable, "-m", "dragoman", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=stdin,
        encoding="utf-8",
        timeout=120,
    )


@pytest.mark.parametrize(
    "command",
    [
        "train",
        "translate",
        "evaluate",
        "score",
        "export",
        "import",
        "inspect",
        "plan",
        "lab",
        "generate",
        "fill",
        "embed",
        "neighbours",
        "data",
        "demo",
    ],
)
def test_every_command_has_help_with_examples(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"dragoman {command}" in capsys.readouterr().out.split("examples:")[1]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom dragoman.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'sentencepiece', 'sacrebleu', 'matplotlib'}\n"
        "print('loaded:', heavy & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "loaded: set()" in result.stdout


def test_lines_in_lines_out(model_folder: Path) -> None:
    text = "Good morning!\n\nWhere is the station?\r\n   \nA\u2028B\x85C"
    result = dragoman("translate", model_folder, stdin=text)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.split("\n")
    assert len(lines) == 6
    assert lines[5] == ""
    assert lines[1] == lines[3] == ""
    assert lines[0]


def test_nothing_in_nothing_out(model_folder: Path) -> None:
    result = dragoman("translate", model_folder, stdin="")
    assert (result.returncode, result.stdout) == (0, "")


def test_nbest_has_number_score_and_text(model_folder: Path) -> None:
    result = dragoman("translate", model_folder, "Let's go!", "--beam", 4, "--nbest", 3)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "1"]
    scores = [float(row[1]) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_options_may_stand_before_what_is_translated(model_folder: Path) -> None:
    before = dragoman("translate", "--nbest", 2, model_folder, "--beam", 4, "Let's go!")
    after = dragoman("translate", model_folder, "Let's go!", "--beam", 4, "--nbest", 2)
    assert before.stdout == after.stdout
    assert len(after.stdout.splitlines()) == 2


def test_input_is_answered_as_it_comes(model_folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dragoman", "translate", str(model_folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(b"Good morning!\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_megabyte_without_a_blank_is_copied_and_said(model_folder: Path) -> None:
    line = f"Good morning! {'x' * 2**20} Good morning!"
    alone = dragoman("translate", model_folder, stdin="Good morning!\n").stdout.strip()
    result = dragoman("translate", model_folder, stdin=f"{line}\nGood morning!\n")
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first == f"{alone} {'x' * 2**20} {alone}".strip()
    assert second == alone
    assert result.stderr.splitlines() == [
        "dragoman: line 1 has 1,048,604 characters and comes out at once: this may "
        "take minutes (one sentence a line is faster)",
        "dragoman: line 1: 1,048,576 characters in runs of more than 1,000 without a "
        "blank are no text: copied as they are",
    ]


def test_a_reader_that_leaves_early_is_no_error(model_folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dragoman", "translate", str(model_folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"Good morning!\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()  # as `head -1` does, while more may still come in
        process.stdin.write(b"Good morning!\n")
        process.stdin.flush()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


def test_bytes_that_are_not_utf8_are_said_and_kept_in_line(model_folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dragoman", "translate", str(model_folder)],
        capture_output=True,
        input=b"good\nbad \xff\ngood\n",
        check=True,
    )
    assert result.stdout.count(b"\n") == 3
    assert b"line 2 is not UTF-8" in result.stderr


def test_evaluate_prints_one_json_object(
    model_folder: Path,
    corpus: Any,
    tmp_path: Path,
) -> None:
    output = tmp_path / "out.es"
    result = dragoman(
        "evaluate",
        model_folder,
        "--source",
        corpus.valid_source,
        "--reference",
        corpus.valid_target,
        "--json",
        "--output",
        output,
    )
    report = json.loads(result.stdout)
    for metric in ("bleu", "chrf", "ter"):
        assert set(report[metric]) == {"score", "signature", "interval"}
        low, high = report[metric]["interval"]
        assert low <= high
    assert report["sentences"] == len(output.read_text("utf-8").splitlines())
    assert sum(row["count"] for row in report["by_length"]) == report["sentences"]


def test_evaluate_against_itself_finds_no_difference(
    model_folder: Path,
    corpus: Any,
) -> None:
    result = dragoman(
        "evaluate",
        model_folder,
        "--source",
        corpus.valid_source,
        "--reference",
        corpus.valid_target,
        "--against",
        model_folder,
        "--beam",
        1,
    )
    assert result.returncode == 0, result.stderr
    assert "BLEU" in result.stdout
    assert "significant" in result.stdout or "chance" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "nowhere", "Hi"], "there is no model folder nowhere"),
        (["data", "get", "klingon", "x"], "klingon"),
        (
            ["train", "m", "--source", "no.en", "--target", "no.de", "--steps", "1"],
            "no.en",
        ),
        (
            [
                "train",
                "m",
                "--source",
                "a.en",
                "--preset",
                "tiny",
                "--set",
                "model.x=1",
            ],
            "no setting 'model.x'",
        ),
    ],
)
def test_errors_are_one_line_and_not_zero(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = dragoman(*arguments)
    assert result.returncode == 1
    assert result.stdout == ""
    lines = [
        line for line in result.stderr.splitlines() if line.startswith("dragoman:")
    ]
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--debug", "translate", "nowhere", "Hi"),
        ("translate", "nowhere", "Hi", "--debug"),
    ],
)
def test_debug_shows_the_traceback(arguments: tuple[str, ...]) -> None:
    result = dragoman(*arguments)
    assert result.returncode != 0
    assert "Traceback" in result.stderr


def test_what_nobody_foresaw_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(folder: Path, *_: object) -> None:
        raise RuntimeError(f"no memory for {folder}\nframe #0: somewhere in C++")

    monkeypatch.setattr("dragoman.translator.EngineChoice.open", fail)
    assert main(["translate", "m", "Hi"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("dragoman: internal error: RuntimeError: no memory for m (")
    assert "report it with what `dragoman doctor` prints" in said
    assert said.count("\n") == 1


def test_a_place_for_the_translations_is_looked_for_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "no" / "out.es"
    files = ["--source", "a", "--reference", "b", "--output", str(nowhere)]
    assert main(["evaluate", "no-model-is-looked-at", *files]) == 1
    assert f"{nowhere}: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_numbers_that_cannot_be_are_refused(
    value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["translate", "m", "--beam", value])
    assert ended.value.code == 2
    assert f"{value!r} is not a whole number above 0" in capsys.readouterr().err


def test_a_plan_is_a_table_or_one_json_object(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stated = ["plan", "--pairs", "30000", "--preset", "tiny", "--flops", "1e12"]
    assert main(stated) == 0
    assert "FLOPs per target token" in capsys.readouterr().out
    assert main([*stated, "--memory", "4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["machine"]["memory"] == 4 * 2**30
    assert report["fits"] is True


def test_corpora_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "list"]) == 0
    assert "tatoeba-en-es" in capsys.readouterr().out


def test_ctrl_c_saves_and_says_how_to_go_on(corpus: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dragoman", "train", str(tmp_path / "m")]
    command += ["--source", str(corpus.train_source), "--steps", "100000"]
    command += ["--target", str(corpus.train_target), "--preset", "tiny"]
    command += ["--threads", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        metrics = tmp_path / "m" / "metrics.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if metrics.exists() and metrics.stat().st_size:
                break
            time.sleep(0.1)
        process.send_signal(2)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command again to go on" in errors
    assert list((tmp_path / "m" / "checkpoints").glob("step-*"))


def test_scores_are_printed_or_used_to_part_a_corpus(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "x.en", tmp_path / "x.es"
    source.write_text("Good morning!\n\nThank you.\n", "utf-8")
    target.write_text("Buenos días.\nHola.\nGracias.\n", "utf-8")
    files = ["--source", str(source), "--target", str(target)]
    assert main(["score", str(model_folder), *files]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [len(row) for row in rows] == [3, 3, 3]
    assert rows[1] == ["-inf", "-inf", ""]
    said = [float(value) for value in rows[0][2].split()]
    assert float(rows[0][1]) == pytest.approx(sum(said), abs=0.01)
    assert main(["score", str(model_folder), *files, "--json"]) == 0
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["line"] for one in objects] == [1, 2, 3]
    out = ["--filter", "0.5", "--output", str(tmp_path / "out")]
    assert main(["score", str(model_folder), *files, *out]) == 0
    assert "3 pairs: 2 kept in" in capsys.readouterr().out
    assert (tmp_path / "out" / "aside" / "x.es").read_text("utf-8") == "Hola.\n"
    assert len((tmp_path / "out" / "scores.tsv").read_text().splitlines()) == 3
    assert main(["score", str(model_folder), *files, "--filter", "0.5"]) == 1
    assert "--filter SHARE and --output DIR belong together" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "rows", "columns"),
    [
        (["--nbest", "3", "--groups", "2"], 3, 3),
        (["--search", "sampling", "--top-p", "0.9", "--nbest", "2"], 2, 3),
        (["--search", "bayes-risk", "--samples", "4"], 1, 1),
        (["--prefix", "Hola", "--alternatives", "3"], 3, 4),
        (["--length-penalty", "average", "--min-length", "3"], 1, 1),
        (["--beam", "6", "--nbest", "6"], 6, 3),
    ],
)
def test_a_search_can_be_asked_for(
    model_folder: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    options: list[str],
    rows: int,
    columns: int,
) -> None:
    assert main(["translate", str(model_folder), "Good morning!", *options]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert [len(line.split("\t")) for line in lines] == [columns] * rows


def test_a_translation_as_an_object_has_the_chance_of_each_piece(
    model_folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    arguments = ["Good morning!", "--json", "--with", str(model_folder)]
    assert main(["translate", str(model_folder), *arguments]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert found["line"] == 1
    said = found["piece_log_probabilities"]
    assert found["log_probability"] == pytest.approx(sum(said))
    assert len(said) in (len(found["pieces"]), len(found["pieces"]) + 1)


def test_what_no_search_can_do_is_refused_in_one_line(
    model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--beam", "4", "--groups", "3"]
    assert main(["translate", str(model_folder), "Hi.", *asked]) == 1
    said = capsys.readouterr().err
    assert said.startswith("dragoman: a beam of 4 cannot be parted into 3 groups")
    assert said.count("\n") == 1
