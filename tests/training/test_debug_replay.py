import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.cli.main import main
from dragoman.data.sampler import Position
from dragoman.errors import TrainingError
from dragoman.model.weights import get_weights
from dragoman.model_folder import SavedModel
from dragoman.training.batch_source import BatchSource
from dragoman.training.debug_batch import DebugBatch
from dragoman.training.debug_replay import replay
from dragoman.training.preparation import Prepared
from dragoman.training.randomness import own_states
from dragoman.training.run_record import read_record


@pytest.fixture
def batch(saved: SavedModel, prepared: Prepared) -> DebugBatch:
    config = saved.config.with_settings({"training.accumulate": 2})
    source = BatchSource(prepared.store, prepared.tokenizers, config)
    parts, _ = next(source.read(Position(0, 0)))
    weights = {name: w.clone() for name, w in get_weights(saved.model).items()}
    chance = own_states(torch.device("cpu"))
    return DebugBatch(12, 0.5, 1, "plain", parts, weights, chance)


def spoil(batch: DebugBatch, name: str, number: float) -> DebugBatch:
    weights = dict(batch.weights)
    weights[name] = weights[name].clone()
    weights[name].view(-1)[0] = number
    return replace(batch, weights=weights)


def test_what_is_written_is_what_is_read(batch: DebugBatch, tmp_path: Path) -> None:
    batch.write(tmp_path / "b.safetensors")
    read = DebugBatch.read(tmp_path / "b.safetensors")
    assert (read.step, read.threads, len(read.parts)) == (12, 1, 2)
    assert read.progress == 0.5
    for one, other in zip(read.parts, batch.parts, strict=True):
        assert torch.equal(one.source, other.source)
        assert torch.equal(one.target_in, other.target_in)
        assert torch.equal(one.target_out, other.target_out)
    assert [path.name for path in tmp_path.iterdir()] == ["b.safetensors"]


def test_a_healthy_batch_shows_nothing_but_its_sentences(
    batch: DebugBatch, model_folder: Path, tmp_path: Path, corpus: Any
) -> None:
    batch.write(tmp_path / "b")
    found = replay(model_folder, tmp_path / "b")
    assert found.step == 12
    assert len(found.rows) == sum(part.num_pairs for part in batch.parts)
    assert (found.bad_weights, found.bad_layers, found.bad_gradients) == ((), (), ())
    assert "everything is finite here" in found.table()
    assert replay(model_folder, tmp_path / "b") == found, "chance and all"
    known = corpus.train_source.read_text("utf-8").splitlines()
    # Some rows hold placeholders, which no line of the corpus does.
    assert sum(row.source in known for row in found.rows) > len(found.rows) / 2


def test_it_names_the_layer_where_it_begins(
    batch: DebugBatch, model_folder: Path, tmp_path: Path
) -> None:
    name = next(n for n in batch.weights if n.startswith("decoder") and "norm" in n)
    spoil(batch, name, float("nan")).write(tmp_path / "b")
    found = replay(model_folder, tmp_path / "b")
    layer = name.rpartition(".")[0]
    assert found.bad_weights == (name,)
    assert found.bad_layers[0] == layer
    assert found.bad_gradients
    assert f"first layer whose output is not finite: {layer} (and" in found.table()


def test_the_command_prints_it(
    batch: DebugBatch,
    model_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch.write(tmp_path / "b")
    code = main(["train", str(model_folder), "--debug-batch", str(tmp_path / "b")])
    assert code == 0
    assert capsys.readouterr().out.startswith("update 12: ")


def test_without_text_there_is_nothing_to_learn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", str(tmp_path / "m")]) == 1
    assert "give --source FILE" in capsys.readouterr().err


def test_another_file_is_refused_in_one_line(
    model_folder: Path, tmp_path: Path
) -> None:
    for file in (tmp_path / "none", model_folder / "model.safetensors"):
        with pytest.raises(TrainingError, match="is no batch that a run has kept") as e:
            replay(model_folder, file)
        assert "\n" not in str(e.value)


def test_another_folder_is_refused_in_one_line(
    batch: DebugBatch, model_folder: Path, tmp_path: Path
) -> None:
    batch.write(tmp_path / "b")
    with pytest.raises(TrainingError, match="holds no training run"):
        replay(tmp_path, tmp_path / "b")
    replace(batch, weights={"w": torch.zeros(2)}).write(tmp_path / "b")
    with pytest.raises(TrainingError, match="was not kept by the run in"):
        replay(model_folder, tmp_path / "b")


def test_a_run_with_r_drop_is_replayed_with_it(
    batch: DebugBatch, model_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(model_folder, folder)
    record = read_record(folder)
    assert record is not None
    batch.write(folder / "b")
    plain = replay(folder, folder / "b")
    settings = {"training.r_drop": 5.0, "model.dropout": 0.5}
    replace(record, config=record.config.with_settings(settings)).write(folder)
    found = replay(folder, folder / "b")
    assert found.loss > plain.loss, "two passes that disagree cost more"
    assert [row.source for row in found.rows] == [row.source for row in plain.rows]
    assert replay(folder, folder / "b") == found
    not_yet = {**settings, "training.r_drop_from": 0.9, "model.dropout": 0.0}
    replace(record, config=record.config.with_settings(not_yet)).write(folder)
    replace(batch, progress=0.5).write(folder / "b")
    assert replay(folder, folder / "b").loss == plain.loss
