import json
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch._C._distributed_c10d import HashStore, Store

from dragoman import durable
from dragoman.config import load_preset
from dragoman.errors import TrainingError
from dragoman.model.build import build_model
from dragoman.training.distributed import Processes, fresh_store, joined
from dragoman.training.objective import Objective

STEPS = 14  # more than two epochs
HARD: dict[str, Any] = {
    "training.optimizer": "muon",
    "training.accumulate": 2,
    "tokenizer.sampling": 0.1,
    "model.dropout": 0.2,
}
STILL: dict[str, Any] = {
    "training.optimizer": "adam",
    "model.dropout": 0.0,
    "training.valid_every": 100,
}
SLICED = {
    "training.optimizer": "adam",
    "training.sharding": "full",
    "training.accumulate": 2,
}
CPU = torch.device("cpu")


def losses(folder: Path) -> list[float]:
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    trained = [entry for entry in read if entry["kind"] == "train"]
    assert [entry["step"] for entry in trained] == list(range(1, len(trained) + 1))
    return [entry["loss"] for entry in trained]


@pytest.fixture(scope="module")
def whole(together: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two processes that nothing disturbed."""
    folder: Path = tmp_path_factory.mktemp("two") / "whole"
    ends = together(2, folder, steps=STEPS, settings=HARD)
    assert [end["ending"] for end in ends] == ["BUDGET", "BUDGET"]
    assert ends[0]["weights"] == ends[1]["weights"], "all processes learn the same"
    return folder


def same_weights(one: Path, other: Path, step: int = STEPS) -> bool:
    names = ("model.safetensors", f"checkpoints/step-{step}/model.safetensors")
    return all(durable.sha256(one / n) == durable.sha256(other / n) for n in names)


@pytest.fixture(scope="module")
def one(together: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one process, without chance, to compare others with."""
    folder: Path = tmp_path_factory.mktemp("one") / "one"
    together(1, folder, steps=6, settings=STILL)
    return folder


def test_two_processes_learn_what_one_does(
    together: Any, one: Path, tmp_path: Path
) -> None:
    accumulating = STILL | {"training.accumulate": 2}
    ends = together(2, tmp_path / "two", steps=6, settings=accumulating)
    assert ends[0]["weights"] == ends[1]["weights"]
    assert losses(tmp_path / "two") == pytest.approx(losses(one), rel=1e-4)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("count", "settings"),
    [
        (2, {"training.optimizer": "muon"}),
        # Fewer rows in some batches than processes: one of them has nothing to do.
        (4, {"training.batch_tokens": 60}),
    ],
)
def test_several_processes_learn_what_one_does(
    together: Any, tmp_path: Path, count: int, settings: dict[str, Any]
) -> None:
    ends = together(count, tmp_path / "several", steps=6, settings=STILL | settings)
    assert len({str(end["weights"]) for end in ends}) == 1
    together(1, tmp_path / "one", steps=6, settings=STILL | settings)
    assert losses(tmp_path / "several") == pytest.approx(
        losses(tmp_path / "one"), rel=1e-4
    )


def test_a_signal_to_one_stops_all_and_the_run_goes_on_exactly(
    together: Any, whole: Path, tmp_path: Path
) -> None:
    stop = {1: (7, signal.SIGTERM)}
    ends = together(2, tmp_path / "m", steps=STEPS, settings=HARD, stop=stop)
    for end in ends:
        assert end["ending"] == "INTERRUPTED"
        assert end["signal"] == signal.SIGTERM
        assert end["steps"] == 7
    assert ends[0]["weights"] == ends[1]["weights"]
    (alone,) = together(1, tmp_path / "m", steps=STEPS, settings=HARD)
    assert "2 processes then, 1 now" in alone["error"]
    assert "--allow-changed" in alone["error"]
    together(2, tmp_path / "m", steps=STEPS, settings=HARD)
    assert same_weights(tmp_path / "m", whole)
    assert len(losses(tmp_path / "m")) == STEPS


@pytest.mark.faults
def test_torchrun_begins_again_when_a_worker_is_killed(
    whole: Path, corpus: Any, tiny: dict[str, Any], tmp_path: Path
) -> None:
    words = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        *("--nproc-per-node", 2, "--max-restarts", 1),
        *(Path(__file__).with_name("dying_worker.py"), "train", tmp_path / "m"),
        *("--source", corpus.train_source, "--target", corpus.train_target),
        *("--valid-source", corpus.valid_source, "--valid-target", corpus.valid_target),
        *("--preset", "tiny", "--steps", STEPS),
        *(f"--set={name}={value}" for name, value in (tiny | HARD).items()),
    ]
    ended = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "going on after update 5" in ended.stderr
    assert same_weights(tmp_path / "m", whole)
    said = [line for line in ended.stderr.splitlines() if "the model is in" in line]
    assert len(said) == 1, "one process speaks for all"


@pytest.mark.faults
def test_four_processes_resume_exactly(together: Any, tmp_path: Path) -> None:
    ends = together(4, tmp_path / "whole", steps=STEPS, settings=HARD)
    assert len({str(end["weights"]) for end in ends}) == 1
    stop = {3: (5, signal.SIGINT)}
    ends = together(4, tmp_path / "parts", steps=STEPS, settings=HARD, stop=stop)
    assert {end["signal"] for end in ends} == {signal.SIGINT}
    together(4, tmp_path / "parts", steps=STEPS, settings=HARD)
    assert same_weights(tmp_path / "whole", tmp_path / "parts")


def test_sliced_weights_learn_and_are_kept_as_whole_ones(
    together: Any, one: Path, tmp_path: Path
) -> None:
    sliced = STILL | SLICED
    ends = together(2, tmp_path / "sliced", steps=6, settings=sliced)
    assert ends[0]["weights"] == ends[1]["weights"]
    assert losses(tmp_path / "sliced") == pytest.approx(losses(one), rel=1e-4)
    for name in ("model.safetensors", "optimizer.safetensors"):
        kept, usual = (
            load_file(run / "checkpoints" / "step-6" / name)
            for run in (tmp_path / "sliced", one)
        )
        for tensor in usual:
            assert kept[tensor].shape == usual[tensor].shape


@pytest.mark.faults
def test_sliced_weights_resume_exactly(together: Any, tmp_path: Path) -> None:
    sliced = HARD | SLICED
    together(2, tmp_path / "whole", steps=STEPS, settings=sliced)
    stop = {1: (5, signal.SIGTERM)}
    together(2, tmp_path / "parts", steps=STEPS, settings=sliced, stop=stop)
    together(2, tmp_path / "parts", steps=STEPS, settings=sliced)
    assert same_weights(tmp_path / "whole", tmp_path / "parts")


def test_half_precision_learns_nearly_the_same(
    together: Any, one: Path, tmp_path: Path
) -> None:
    ends = together(
        2,
        tmp_path / "halves",
        steps=6,
        settings=STILL | {"training.precision": "bfloat16", "training.accumulate": 2},
        # Some processors announce instructions that they do not have.
        variables={"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    )
    assert ends[0]["weights"] == ends[1]["weights"]
    exact, halves = losses(one), losses(tmp_path / "halves")
    assert halves == pytest.approx(exact, rel=0.01)
    assert halves != pytest.approx(exact, rel=1e-6), "it was computed in halves"
    weights = load_file(tmp_path / "halves" / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float32}


def test_a_machine_that_sees_no_prepared_data_prepares_its_own(
    together: Any, tmp_path: Path
) -> None:
    folders = [tmp_path / "here", tmp_path / "there"]
    ends = together(2, Path(), folders=folders, steps=2, machines=2)
    assert ends[0]["weights"] == ends[1]["weights"]
    assert (folders[1] / "prepared").is_dir()
    assert not (folders[1] / "checkpoints").exists(), "only the first process writes"
    assert not (folders[1] / "metrics.jsonl").exists()


def test_other_data_on_another_machine_is_one_line(
    together: Any, corpus: Any, tmp_path: Path
) -> None:
    folders = [tmp_path / "here", tmp_path / "there"]
    other = tmp_path / "other.tsv"
    other.write_text("a dog\tun perro\na cat\tun gato\n" * 40, "utf-8")
    ends = together(
        2,
        Path(),
        folders=folders,
        machines=2,
        steps=2,
        by_rank={1: {"source": other, "target": None}},
    )
    assert ends[0]["error"].startswith("another process of this run has ended: ")
    said = ends[1]["error"]
    assert said.startswith("process 1 finds other data in ")
    assert "same corpus" in said
    assert "\n" not in said


def test_alone_there_is_nobody_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    with joined(CPU) as processes:
        assert processes == Processes()
    assert processes.first
    assert processes.exchange(1, 2.5).tolist() == [[1.0, 2.5]]
    assert processes.tell({"any": ["thing"]}) == {"any": ["thing"]}
    processes.wait()
    config = load_preset("tiny")
    module = Objective(build_model(config.model, 9), config.training)
    assert processes.spread(module, "full") is module


def test_processes_that_cannot_meet_are_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    meeting = joined(CPU)
    with pytest.raises(TrainingError, match="cannot reach each other") as raised:
        meeting.__enter__()
    assert "\n" not in str(raised.value)


def test_processes_of_one_machine_share_its_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    assert Processes().threads(0) == 0, "torch's own choice"
    assert Processes(count=4, local_count=4).threads(0) == 2
    assert Processes(count=16, local_count=16).threads(0) == 1
    assert Processes(count=4, local_count=4).threads(3) == 3


def test_each_process_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.set_device", lambda _: None)
    gpu = torch.device("cuda")
    assert Processes().place(gpu) == gpu
    second = Processes(rank=5, count=8, local_rank=1, local_count=2)
    assert second.place(gpu) == torch.device("cuda:1")
    assert second.place(CPU) == CPU
    with pytest.raises(TrainingError, match="3 processes were started on this machine"):
        Processes(rank=2, count=3, local_rank=2, local_count=3).place(gpu)


def test_processes_find_each_other_among_the_traces_of_dead_ones() -> None:
    store = HashStore()
    store.set("asks/1", "a process that was killed")
    found: dict[int, Store] = {}

    def meet(rank: int) -> None:
        found[rank] = fresh_store(store, rank, 3)
        found[rank].set(str(rank), "here")

    for _ in range(3):
        threads = [Thread(target=meet, args=(rank,)) for rank in (0, 1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found[1].get("2") == b"here"
        assert not found[0].check(["3"])
        found[0].set("3", "what the next three must not find")
