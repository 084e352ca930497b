from pathlib import Path

from dragoman.inspection.validation_pairs import validation_pairs


def test_a_run_keeps_its_validation_text(model_folder: Path) -> None:
    pairs = validation_pairs(model_folder, 3)
    assert len(pairs) == 3
    assert all(source and target for source, target in pairs)


def test_a_folder_without_one_gives_none(tmp_path: Path) -> None:
    assert validation_pairs(tmp_path, 3) == []
