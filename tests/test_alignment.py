"""Words are linked by the head that was chosen, or at like places without one."""

import json
import shutil
from pathlib import Path

import pytest

from dragoman.alignment import Aligner, AlignmentHead
from dragoman.errors import ModelFolderError
from dragoman.inspection.alignment_head import alignment_head, choose_alignment_head
from dragoman.model_folder import load_model
from dragoman.text.word_links import diagonal_links, with_equal_units, word_units
from dragoman.translator import Translator


def test_training_keeps_the_head_that_aligns_best(model_folder: Path) -> None:
    head = AlignmentHead.read(model_folder)
    assert head is not None
    assert 0 <= head.score <= 1
    assert alignment_head(model_folder, Translator.load(model_folder)) == head


def test_it_is_chosen_anew_where_the_folder_names_none(
    model_folder: Path, tmp_path: Path
) -> None:
    head = AlignmentHead.read(model_folder)
    folder = Path(shutil.copytree(model_folder, tmp_path / "model"))
    sums = (folder / "SHA256SUMS").read_text().splitlines(keepends=True)
    (folder / "SHA256SUMS").write_text(
        "".join(line for line in sums if "alignment.json" not in line)
    )
    assert AlignmentHead.read(folder) is None
    assert alignment_head(folder, Translator.load(folder)) == head
    assert head is not None
    head.write(folder)
    load_model(folder)
    assert AlignmentHead.read(folder) == head


def test_a_strange_choice_is_named(model_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model_folder, tmp_path / "model"))
    (folder / "alignment.json").write_text(json.dumps({"layer": "x"}))
    with pytest.raises(ModelFolderError, match=r"alignment\.json does not name a head"):
        AlignmentHead.read(folder)


def test_every_unit_is_linked_alone_and_in_company(model_folder: Path) -> None:
    translator = Translator.load(model_folder)
    aligner = Aligner(translator, AlignmentHead.read(model_folder))
    pairs = [
        ("Where is the station, Ann?", "¿Dónde está la estación, Ann?"),
        ("Good morning!", "¡Buenos días!"),
        ("same words", "same words"),
        ("", ""),
        ("a", "x y z"),
    ]
    together = aligner.align(pairs)
    for (source, target), links in zip(pairs, together, strict=True):
        assert len(links) == len(word_units(target))
        assert all(k is not None and k < len(word_units(source)) for k in links)
        assert aligner.align([(source, target)]) == [links]
    assert together[2] == (0, 1)
    names = [u.text for u in word_units(pairs[0][1])]
    assert together[0][names.index("Ann")] == 5


@pytest.mark.parametrize("head", [None, AlignmentHead(99, 0, 0.5)])
def test_without_a_head_words_at_like_places_are_linked(
    model_folder: Path, head: AlignmentHead | None
) -> None:
    aligner = Aligner(Translator.load(model_folder), head)
    assert aligner.align([("a b", "c d")]) == [(0, 1)]


def test_models_without_heads_have_none_to_choose(
    recurrent_folders: dict[str, Path],
) -> None:
    for folder in recurrent_folders.values():
        assert AlignmentHead.read(folder) is None
        translator = Translator.load(folder)
        assert choose_alignment_head(translator, [("a", "b")]) is None


def test_equal_units_are_linked_only_where_each_is_alone() -> None:
    source, target = word_units("Ann saw Ann in Rome"), word_units("Ann in Rome x")
    links = with_equal_units(source, target, diagonal_links(source, target))
    assert links[1:3] == (3, 4)
    assert links[0] == 0
    assert diagonal_links([], target) == (None,) * 4
