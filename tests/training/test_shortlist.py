import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.cli.main import main
from dragoman.errors import ConfigError, ModelFolderError
from dragoman.model_files import SHORTLIST
from dragoman.model_folder import load_model
from dragoman.training.shortlist import learn_shortlist
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = tmp_path_factory.mktemp("shortlist") / "toy"
    shutil.copytree(model_folder, copied)
    learn_shortlist(copied, candidates=10, common=40)
    return copied


@pytest.fixture(scope="module")
def sentences(folder: Path) -> list[str]:
    text = (folder / "prepared" / "valid.source").read_text("utf-8")
    return text.splitlines()[:40]


def test_it_is_shorter_than_the_vocabulary_and_belongs_to_the_folder(
    folder: Path,
) -> None:
    saved = load_model(folder)
    assert saved.shortlist is not None
    assert len(saved.shortlist.always) < saved.tokenizers.target.vocabulary_size / 4
    (folder / SHORTLIST).write_bytes((folder / SHORTLIST).read_bytes() + b" ")
    with pytest.raises(ModelFolderError, match=r"shortlist.safetensors was truncated"):
        load_model(folder)
    learn_shortlist(folder, candidates=10, common=40)  # makes it good again


@pytest.mark.parametrize("beam_size", [1, 4])
def test_company_changes_nothing(
    folder: Path, sentences: list[str], beam_size: int
) -> None:
    translator = Translator.load(folder)
    options = replace(translator.options, beam_size=beam_size, shortlist=True)
    together = translator.translate(sentences, options=options)
    alone = [translator.translate(text, options=options) for text in sentences]
    assert together == alone


def test_only_tokens_of_the_list_are_said(folder: Path, sentences: list[str]) -> None:
    translator = Translator.load(folder)
    short = learn_shortlist(folder, candidates=1, common=5)
    translator = Translator.load(folder)
    said: set[int] = set()
    tokenizers = translator.tokenizers
    engine = translator.engine.pytorch
    sources = tokenizers.source.encode_many(sentences)
    options = replace(translator.options, shortlist=True)
    for source, [best] in zip(sources, engine.translate(sources, options), strict=True):
        allowed = {*source, *short.always.tolist()}
        allowed |= set(short.candidates[[*source, 3]].flatten().tolist())
        assert set(best.tokens) <= allowed
        said |= set(best.tokens)
    assert said
    learn_shortlist(folder, candidates=10, common=40)


def test_a_list_of_everything_changes_nothing(
    folder: Path, sentences: list[str], tmp_path: Path
) -> None:
    everything = tmp_path / "everything"
    shutil.copytree(folder, everything)
    learn_shortlist(everything, candidates=1, common=10_000)
    translator = Translator.load(everything)
    narrowed = replace(translator.options, shortlist=True)
    assert translator.translate(sentences, options=narrowed) == translator.translate(
        sentences
    )


def test_the_command_says_what_it_costs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shortlist", str(folder), "--candidates", "10", "--common", "40"]) == 0
    printed = capsys.readouterr()
    assert str(folder / SHORTLIST) in printed.err
    rows = [line.split()[0] for line in printed.out.splitlines()]
    assert rows == ["sentences", "tokens", "BLEU", "time"]
    assert main(["translate", str(folder), "Good morning.", "--shortlist"]) == 0


def test_what_does_not_go_together_is_refused(
    folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    without = Translator.load(model_folder)
    asked = replace(without.options, shortlist=True)
    with pytest.raises(ConfigError) as caught:
        without.translate("Good morning.", options=asked)
    assert str(caught.value) == (
        "there is no shortlist for this: `dragoman shortlist MODEL` learns one for a "
        "model that translates by itself"
    )
    with pytest.raises(ConfigError) as caught:
        Translator.load(folder).translate_nbest(
            ["Good morning."], options=asked, prefixes=["Buenos"]
        )
    assert str(caught.value) == (
        "a shortlist may lack the tokens of a given beginning: leave out one of the two"
    )
    bare = tmp_path / "bare"
    shutil.copytree(
        model_folder, bare, ignore=shutil.ignore_patterns("prepared", "checkpoints")
    )
    with pytest.raises(ConfigError) as caught:
        learn_shortlist(bare)
    assert str(caught.value) == (
        f"{bare / 'prepared' / 'train'} is not there, and a shortlist is learned from "
        "a model's own training text: run this where the model was trained"
    )
