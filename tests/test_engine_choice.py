import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.cli.main import main
from dragoman.engine_choice import EngineChoice
from dragoman.errors import ConfigError, ModelFolderError
from dragoman.translator import Translator

SENTENCES = ["Good morning!", "", "Where is the station?", "Thank you."]


def test_auto_takes_an_export_where_there_is_one(
    exported_folder: Path, model_folder: Path
) -> None:
    exported, plain = Translator.load(exported_folder), Translator.load(model_folder)
    assert str(exported.engine).startswith("ctranslate2 (float32, ")
    assert str(plain.engine).startswith(
        f"pytorch ({model_folder} has not been exported for CTranslate2"
    )


def test_both_engines_give_the_same_in_full(exported_folder: Path) -> None:
    [ours, theirs] = [
        Translator.load(exported_folder, engine=engine)
        for engine in ("pytorch", "ctranslate2")
    ]
    assert str(ours.engine) == "pytorch (it was asked for)"
    for a, b in zip(
        ours.translate_nbest(SENTENCES, 3),
        theirs.translate_nbest(SENTENCES, 3),
        strict=True,
    ):
        for x, y in zip(a, b, strict=True):
            assert (x.text, x.pieces) == (y.text, y.pieces)
            assert x.score == pytest.approx(y.score, abs=1e-4)
            assert x.piece_log_probabilities == pytest.approx(
                y.piece_log_probabilities, abs=1e-4
            )


def test_auto_leaves_to_pytorch_what_only_it_can_do(exported_folder: Path) -> None:
    translator = Translator.load(exported_folder)
    guarded = replace(translator.options, no_repeat_ngram=1)
    ours = Translator.load(exported_folder, engine="pytorch")
    assert translator.translate(SENTENCES, options=guarded) == ours.translate(
        SENTENCES, options=guarded
    )
    assert str(translator.engine) == (
        "pytorch (CTranslate2 has only greedy and plain beam search, over all tokens)"
    )
    prefixed = Translator.load(exported_folder)
    [[best]] = prefixed.translate_nbest(["Good morning!"], prefixes=["Hola"])
    assert best.text.startswith("Hola")
    with pytest.raises(ConfigError, match="use the engine pytorch for this"):
        Translator.load(exported_folder, engine="ctranslate2").translate(
            SENTENCES, options=guarded
        )


def test_an_engine_that_was_asked_for_and_cannot_be_had_is_said(
    model_folder: Path,
) -> None:
    with pytest.raises(ModelFolderError, match="run `dragoman export"):
        Translator.load(model_folder, engine="ctranslate2")
    with pytest.raises(ConfigError) as caught:
        EngineChoice.open(model_folder, "abacus")
    assert str(caught.value) == (
        "there is no engine 'abacus': choose one of auto, pytorch, ctranslate2"
    )


def test_without_the_package_pytorch_goes_on_alone(
    exported_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    translator = Translator.load(exported_folder)
    assert "pip install 'dragoman[ctranslate2]'" in str(translator.engine)
    assert translator.translate(SENTENCES[0])


def test_translating_with_an_export_needs_no_weights_and_no_pytorch(
    exported_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "light"
    shutil.copytree(exported_folder, folder)
    (folder / "model.safetensors").unlink()
    code = (
        "import sys\nfrom dragoman.cli.main import main\n"
        f"main(['translate', {str(folder)!r}, 'Good morning!', '--max-repeats=0'])\n"
        "print('loaded:', {'torch', 'numpy', 'sacrebleu'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[1] == "loaded: set()"


def test_the_command_says_which_engine_translates(
    exported_folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["translate", str(exported_folder), "Hello!", "-v"]) == 0
    said = capfdbinary.readouterr().err
    assert said.startswith(b"dragoman: translating with ctranslate2 (float32, ")


def test_the_command_exports(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ctranslate2")
    place = tmp_path / "out"
    arguments = ["export", str(model_folder), "--to", "ctranslate2"]
    assert main([*arguments, "--output", str(place)]) == 0
    assert capsys.readouterr().err == f"the export is in {place}\n"
    assert (place / "model.bin").is_file()
