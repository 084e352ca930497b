"""The commands for language models, from training to vectors."""

import json
from pathlib import Path

import numpy as np
import pytest

from dragoman.cli.main import main

TINY = [
    *("model.d_model=16", "model.d_ff=32", "model.num_heads=2", "model.window=16"),
    *("model.num_encoder_layers=1", "model.num_decoder_layers=1"),
    *("tokenizer.vocabulary_size=320", "training.batch_tokens=300"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `lm`, `mlm` and the text that they saw a little of."""
    folder = tmp_path_factory.mktemp("models")
    lines = [f"the {a} sat on the {b}" for a in ("cat", "dog") for b in ("mat", "box")]
    (folder / "text.txt").write_text("\n".join(10 * lines) + "\n")
    for task in ("lm", "mlm"):
        asked = ["--task", task, "--text", f"{folder}/text.txt", "--steps", "2"]
        asked += ["--preset", "tiny", "--quiet", "--threads", "1"]
        for setting in TINY:
            asked += ["--set", setting]
        assert main(["train", f"{folder}/{task}", *asked]) == 0
    return folder


def test_generate_goes_on_with_a_prompt(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sampled = ["--top-k", "20", "--seed", "4", "--max-tokens", "8"]
    assert main(["generate", f"{models}/lm", "the cat", *sampled]) == 0
    said = capsys.readouterr().out
    assert said.startswith("the cat")
    assert main(["generate", f"{models}/lm", "the cat", *sampled]) == 0
    assert capsys.readouterr().out == said


def test_evaluate_measures_perplexity(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["evaluate", f"{models}/lm", "--text", f"{models}/text.txt"]
    assert main(asked) == 0
    table = capsys.readouterr().out
    assert table.startswith("perplexity per token  ")
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert f"{found['perplexity']:.2f}" in table
    assert found["characters"] == len((models / "text.txt").read_text())


def test_fill_gives_words_with_probabilities(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["fill", f"{models}/mlm", "the [MASK] sat on the [MASK]", "--top-k", "3"]
    assert main(asked) == 0
    assert len(capsys.readouterr().out.splitlines()) == 7  # two gaps, a blank between
    assert main([*asked, "--json"]) == 0
    gaps = json.loads(capsys.readouterr().out)
    assert [len(words) for words in gaps] == [3, 3]
    assert set(gaps[0][0]) == {"word", "probability", "text"}


def test_vectors_and_neighbours(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors.npz"
    assert main(["embed", f"{models}/mlm", "the cat", "--output", str(file)]) == 0
    with np.load(file) as arrays:
        assert arrays["texts"].shape == (1, 16)
    for model in ("lm", "mlm"):
        assert main(["neighbours", f"{models}/{model}", "cat", "--count", "4"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 4


def test_inspect_prints_what_a_model_expected(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", f"{models}/lm", "the cat sat"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("text  the cat sat\n\n·the ")
    assert "goes on  the cat sat" in said
    assert main(["inspect", f"{models}/mlm", "the [MASK] sat"]) == 0
    assert "\nfilled  the" in capsys.readouterr().out


def test_inspect_writes_what_there_is_of_a_language_model(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {form: tmp_path / f"seen.{form}" for form in ("html", "svg", "npz")}
    asked = ["inspect", f"{models}/mlm", "the [MASK] sat", "--json", "-"]
    for form, path in names.items():
        asked += [f"--{form}", str(path)]
    assert main([*asked, "--layer", "1", "--head", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["text"]["text"] == "the [MASK] sat"
    assert "layer 1, head 2" in names["svg"].read_text("utf-8")
    assert '"alignment": null' in names["html"].read_text("utf-8")
    with np.load(names["npz"]) as arrays:
        assert arrays["encoder.0.weights"].shape[0] == 2
    assert main([*asked, "--kind", "cross"]) == 1
    assert capsys.readouterr().err == (
        "dragoman: there is no attention of the kind 'cross': this model has encoder\n"
    )
    assert main(["inspect", f"{models}/lm", "the", "--beam", "2"]) == 1
    assert "leave out the target and the beam\n" in capsys.readouterr().err


def test_the_wrong_command_says_which_is_right(
    models: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, told in (
        (["translate", f"{models}/lm", "Hello."], "use `dragoman generate`"),
        (["translate", f"{models}/mlm", "Hello."], "use `dragoman fill`"),
        (["generate", str(model_folder), "Hello"], "use `dragoman translate`"),
        (["fill", f"{models}/lm", "a [MASK]"], "use `dragoman generate`"),
        (["export", f"{models}/lm", "--to", "ctranslate2"], "dragoman generate"),
        (["evaluate", f"{models}/lm"], "give --source and --reference for a trans"),
        (["train", f"{models}/x", "--task", "lm"], "the task lm learns from running"),
    ):
        assert main(arguments) == 1
        said = capsys.readouterr().err
        assert told in said
        assert said.count("\n") == 1
