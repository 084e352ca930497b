from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from dragoman.errors import TrainingError
from dragoman.training.averaging import average_checkpoints, checkpoint_weights
from dragoman.training.checkpoints import Checkpoint, Checkpoints, read_checkpoint


def checkpoint(step: int) -> Checkpoint:
    return Checkpoint(
        step=step,
        weights={"w": torch.full((2, 3), float(step))},
        optimizer={"m": torch.arange(3.0)},
        state={"epoch": 1, "best_loss": 2.5},
    )


def test_what_was_saved_is_read_again(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "c", keep=3)
    checkpoints.save(checkpoint(7), best=False)
    read = checkpoints.latest()
    assert read is not None
    assert read.step == 7
    assert read.state["best_loss"] == 2.5
    assert torch.equal(read.weights["w"], torch.full((2, 3), 7.0))
    assert (tmp_path / "c" / "LATEST").read_text() == "step-7\n"


def test_no_folder_means_no_checkpoint(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none", keep=1).latest() is None


def test_old_ones_are_pruned_but_the_best_is_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3, 4, 10):
        checkpoints.save(checkpoint(step), best=step == 2)
    assert [path.name for path in checkpoints.saved()] == [
        "step-2",
        "step-4",
        "step-10",
    ]
    assert checkpoints.best() == tmp_path / "step-2"


@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"],
)
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove"])
def test_a_damaged_newest_one_is_passed_over(
    tmp_path: Path, name: str, damage: str
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(checkpoint(1), best=False)
    newest = checkpoints.save(checkpoint(2), best=False)
    content = bytearray((newest / name).read_bytes())
    match damage:
        case "truncate":
            (newest / name).write_bytes(content[: len(content) // 2])
        case "flip":
            content[len(content) // 2] ^= 1
            (newest / name).write_bytes(content)
        case _:
            (newest / name).unlink()
    with pytest.raises(TrainingError, match="step-2"):
        read_checkpoint(newest)
    read = checkpoints.latest()
    assert read is not None
    assert read.step == 1


def test_a_damaged_one_is_written_anew_when_the_run_comes_there_again(
    tmp_path: Path,
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(checkpoint(1), best=False)
    newest = checkpoints.save(checkpoint(2), best=False)
    (newest / "model.safetensors").write_bytes(b"")
    checkpoints.save(checkpoint(2), best=False)
    assert read_checkpoint(newest).step == 2


def test_the_end_of_a_run_counts_where_an_interruption_was_saved(
    tmp_path: Path,
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(replace(checkpoint(2), averaged=False), best=False)
    assert checkpoints.window(3) == []
    ending = checkpoints.save(checkpoint(2), best=False)
    assert checkpoints.window(3) == [ending]
    checkpoints.save(replace(checkpoint(2), averaged=False), best=False)
    assert checkpoints.window(3) == [ending]


def test_a_folder_of_another_kind_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "step-by-step").mkdir()
    checkpoints = Checkpoints(tmp_path, keep=3)
    saved = checkpoints.save(checkpoint(1), best=False)
    assert checkpoints.saved() == [saved]
    assert (tmp_path / "step-by-step").exists()


def test_a_full_disk_is_said_in_one_line_and_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(checkpoint(1), best=False)
    monkeypatch.setattr("dragoman.training.checkpoints.save_file", fail)
    with pytest.raises(TrainingError, match=r"step-2 .*No space left.* make room"):
        checkpoints.save(checkpoint(2), best=False)
    newest = checkpoints.latest()
    assert newest is not None
    assert newest.step == 1


def test_nothing_whole_is_said_in_one_line(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    path = checkpoints.save(checkpoint(1), best=False)
    (path / "state.json").write_text("{}")
    with pytest.raises(TrainingError, match=r"no checkpoint in .* is whole") as caught:
        checkpoints.latest()
    assert "\n" not in str(caught.value)


def test_what_an_interruption_saved_is_not_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3, 4):
        saved = replace(checkpoint(step), averaged=step != 3)
        checkpoints.save(saved, best=False)
    assert [path.name for path in checkpoints.window(2)] == ["step-2", "step-4"]
    newest = checkpoints.latest()
    assert newest is not None
    assert newest.averaged


def test_an_unfinished_one_is_no_checkpoint_and_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "step-9.tmp").mkdir()
    checkpoints = Checkpoints(tmp_path, keep=3)
    assert checkpoints.latest() is None
    checkpoints.save(checkpoint(1), best=False)
    assert [path.name for path in checkpoints.saved()] == ["step-1"]
    assert not (tmp_path / "step-9.tmp").exists()


def test_averaging_is_the_weighted_mean(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=5)
    for step in (1, 2, 6):
        checkpoints.save(checkpoint(step), best=False)
    uniform = average_checkpoints(checkpoints.window(5), "uniform")
    linear = average_checkpoints(checkpoints.window(2), "linear")
    assert torch.allclose(uniform["w"], torch.full((2, 3), 3.0))
    assert torch.allclose(linear["w"], torch.full((2, 3), (2 * 1 + 6 * 2) / 3))


def test_a_damaged_one_is_never_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=5)
    damaged, _ = (checkpoints.save(checkpoint(step), best=False) for step in (1, 2))
    content = bytearray((damaged / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (damaged / "model.safetensors").write_bytes(content)
    with pytest.raises(TrainingError, match=r"altered: delete .*step-1 and") as caught:
        average_checkpoints(checkpoints.window(5), "uniform")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", ["uniform", "linear"])
def test_shares_add_up_to_one_and_newer_ones_weigh_no_less(shape: str) -> None:
    shares = checkpoint_weights(7, shape)
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares)
