import json
import os
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

import dragoman
from dragoman import durable
from dragoman.data.token_store import TokenStore
from dragoman.errors import ConfigError, CorpusError, TrainingError
from dragoman.training.lock import only_run_in
from dragoman.training.loop import Ending, Trainer, Update
from dragoman.training.train import TrainingResult, train

Runner = Callable[..., TrainingResult]


@pytest.fixture
def run(corpus: Any, tiny: dict[str, Any]) -> Runner:
    def runner(folder: Path, *, valid: bool = True, **options: Any) -> TrainingResult:
        settings = tiny | options.pop("settings", {})
        options.setdefault("preset", "tiny")
        if valid:
            options |= {
                "valid_source": corpus.valid_source,
                "valid_target": corpus.valid_target,
            }
        return train(
            folder,
            source=corpus.train_source,
            target=corpus.train_target,
            settings=settings,
            quiet=True,
            **options,
        )

    return runner


def stop_after(monkeypatch: pytest.MonkeyPatch, step: int, number: int) -> None:
    """Send this process a signal in the middle of an update."""
    update = Trainer._update

    def signalled(self: Trainer, parts: Any, tokens: int) -> Update:
        if self.state.step + 1 == step:
            os.kill(os.getpid(), number)
        return update(self, parts, tokens)

    monkeypatch.setattr(Trainer, "_update", signalled)


def metrics(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "metrics.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
@pytest.mark.parametrize("stop", [3, 4, 10])
def test_an_interrupted_run_ends_with_the_same_weights(
    run: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    optimizer: str,
    stop: int,
) -> None:
    settings = {
        "training.optimizer": optimizer,
        "tokenizer.sampling": 0.1,
        "training.batch_growth": 2,
    }
    run(tmp_path / "whole", steps=14, settings=settings)
    with monkeypatch.context() as patch:
        stop_after(patch, stop, signal.SIGINT)
        result = run(tmp_path / "parts", steps=14, settings=settings)
        assert result.ending is Ending.INTERRUPTED
        assert result.signal == signal.SIGINT
        assert result.steps == stop
        assert not (tmp_path / "parts" / "SHA256SUMS").exists()
    assert run(tmp_path / "parts", steps=14, settings=settings).ending is Ending.BUDGET

    for name in ("model.safetensors", "checkpoints/step-14/model.safetensors"):
        whole, parts = tmp_path / "whole" / name, tmp_path / "parts" / name
        assert durable.sha256(whole) == durable.sha256(parts)
    steps = [m["step"] for m in metrics(tmp_path / "parts") if m["kind"] == "train"]
    assert steps == list(range(1, 15))


def test_a_signal_in_the_last_update_leaves_the_end_to_the_next_run(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, 6, signal.SIGTERM)
        result = run(tmp_path / "m", steps=6)
    assert result.ending is Ending.INTERRUPTED
    assert result.signal == signal.SIGTERM
    result = run(tmp_path / "m", steps=6)
    assert (result.ending, result.steps) == (Ending.BUDGET, 6)
    assert (tmp_path / "m" / "SHA256SUMS").exists()


def test_a_crash_without_warning_goes_on_from_the_last_checkpoint(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "whole", steps=10)
    update = Trainer._update

    def crashing(self: Trainer, parts: Any, tokens: int) -> Update:
        if self.state.step == 7:
            raise RuntimeError("power cut")
        return update(self, parts, tokens)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", crashing)
        with pytest.raises(RuntimeError, match="power cut"):
            run(tmp_path / "parts", steps=10)
    run(tmp_path / "parts", steps=10)
    name = "model.safetensors"
    whole, parts = (
        load_file(tmp_path / "whole" / name),
        load_file(tmp_path / "parts" / name),
    )
    assert all((whole[key] == parts[key]).all() for key in whole)
    steps = [m["step"] for m in metrics(tmp_path / "parts") if m["kind"] == "train"]
    assert steps == list(range(1, 11))


def test_accumulation_changes_nothing_but_rounding(run: Runner, tmp_path: Path) -> None:
    still = {"model.dropout": 0.0, "training.optimizer": "adam"}
    run(tmp_path / "one", steps=6, settings=still)
    run(tmp_path / "three", steps=6, settings=still | {"training.accumulate": 3})
    losses = [
        [m["loss"] for m in metrics(tmp_path / name) if m["kind"] == "train"]
        for name in ("one", "three")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_it_learns(run: Runner, tmp_path: Path) -> None:
    run(
        tmp_path / "m",
        steps=60,
        preset="fast",
        settings={"model.d_model": 32, "training.valid_every": 100},
    )
    losses = [m["plain_loss"] for m in metrics(tmp_path / "m") if m["kind"] == "train"]
    assert losses[-1] < 0.75 * losses[0]


def test_the_model_is_the_mean_of_the_last_checkpoints(
    run: Runner, tmp_path: Path
) -> None:
    run(tmp_path / "m", steps=12, settings={"training.average_last": 3})
    saved = load_file(tmp_path / "m" / "model.safetensors")
    parts = [
        load_file(tmp_path / "m" / "checkpoints" / f"step-{step}" / "model.safetensors")
        for step in (8, 10, 12)
        if (tmp_path / "m" / "checkpoints" / f"step-{step}").exists()
    ]
    for name, tensor in saved.items():
        mean = sum(part[name] for part in parts) / len(parts)
        assert (tensor - mean).abs().max() < 1e-6


def test_budgets_end_a_run(run: Runner, tmp_path: Path) -> None:
    by_minutes = run(tmp_path / "minutes", minutes=0.02)
    assert by_minutes.ending is Ending.BUDGET
    assert by_minutes.seconds < 30
    by_epochs = run(tmp_path / "epochs", epochs=2)
    report = json.loads(
        (tmp_path / "epochs" / "prepared" / "prepared.json").read_text()
    )
    assert by_epochs.steps == 2 * report["report"]["batches_per_epoch"]


def test_a_run_with_a_budget_ends_annealed(run: Runner, tmp_path: Path) -> None:
    run(tmp_path / "m", steps=20, valid=False)
    rates = [m["rate"] for m in metrics(tmp_path / "m")]
    assert rates[-1] < 0.3 * max(rates)
    assert rates[0] < max(rates)


def test_patience_ends_a_run_that_no_longer_improves(
    run: Runner, tmp_path: Path
) -> None:
    result = run(
        tmp_path / "m",
        steps=500,
        settings={
            "training.patience": 2,
            "training.valid_every": 1,
            "training.learning_rate": 0.0,
        },
    )
    assert result.ending is Ending.PATIENCE
    assert result.steps == 3
    assert (tmp_path / "m" / "checkpoints" / "BEST").read_text() == "step-1\n"


def test_the_same_command_after_the_end_does_nothing(
    run: Runner, tmp_path: Path
) -> None:
    run(tmp_path / "m", steps=4)
    before = (tmp_path / "m" / "SHA256SUMS").stat().st_mtime_ns
    again = run(tmp_path / "m", steps=4)
    assert again.steps == 4
    assert (tmp_path / "m" / "SHA256SUMS").stat().st_mtime_ns == before


def test_a_larger_budget_goes_on(run: Runner, tmp_path: Path) -> None:
    run(tmp_path / "m", steps=4)
    assert run(tmp_path / "m", steps=8).steps == 8


def test_what_minutes_chose_is_kept_and_never_measured_again(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, preset=None, minutes=0.02)
    first = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert first["speed"] > 0

    def again(*_: object) -> float:
        raise AssertionError("measured again")

    monkeypatch.setattr("dragoman.training.agreement.learning_speed", again)
    result = run(tmp_path, preset=None, minutes=0.04)
    second = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert (second["settings"], second["speed"]) == (first["settings"], first["speed"])
    assert second["steps"] == result.steps > first["steps"]


def test_a_run_that_falls_behind_says_so_while_it_runs_and_at_its_end(
    run: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("dragoman.training.pace.SECONDS_TO_SHOW", 0.1)
    monkeypatch.setattr("dragoman.training.agreement.learning_speed", lambda *_: 1e9)
    result = run(tmp_path, preset=None, minutes=0.02)
    lines = capsys.readouterr().err.splitlines()
    (during,) = (line for line in lines if "tokens/s instead of about" in line)
    assert "At its end the run will have made about" in during
    assert lines[-1].startswith("dragoman: the run had 0% of the speed that")
    assert f"({result.steps:,} updates in 0.02 minutes)" in lines[-1]
    assert lines[-1].endswith("--minutes 0.04 goes on for as long again")


def test_a_finished_run_needs_no_checkpoints_any_more(
    run: Runner, tmp_path: Path
) -> None:
    run(tmp_path / "m", steps=4)
    shutil.rmtree(tmp_path / "m" / "checkpoints")
    again = run(tmp_path / "m", steps=4)
    assert again.steps == 4
    assert again.seconds > 0


def test_other_settings_do_not_continue_a_run(run: Runner, tmp_path: Path) -> None:
    run(tmp_path / "m", steps=2)
    with pytest.raises(TrainingError, match=r"model\.dropout = 0\.3, and this command"):
        run(tmp_path / "m", steps=4, settings={"model.dropout": 0.1})


def test_other_data_does_not_continue_a_run(
    run: Runner,
    corpus: Any,
    tiny: dict[str, Any],
    tmp_path: Path,
) -> None:
    run(tmp_path / "m", steps=2, valid=False)
    prepared = tmp_path / "m" / "prepared" / "train" / "source.tokens"
    before = durable.sha256(prepared)
    source = tmp_path / "changed.en"
    lines = corpus.train_source.read_text("utf-8").splitlines(keepends=True)
    source.write_text("".join(lines[1:] + lines[:1]), "utf-8")
    with pytest.raises(TrainingError, match="a run on other data"):
        train(
            tmp_path / "m",
            source=source,
            target=corpus.train_target,
            preset="tiny",
            steps=4,
            settings=tiny,
            quiet=True,
        )
    assert durable.sha256(prepared) == before, "what the run learns from is unharmed"
    assert run(tmp_path / "m", steps=4, valid=False).steps == 4


def test_other_data_continues_a_run_on_request_with_the_words_it_knows(
    run: Runner,
    corpus: Any,
    tiny: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(tmp_path / "m", steps=2, valid=False)
    tokenizer = tmp_path / "m" / "prepared" / "tokenizer.model"
    before = durable.sha256(tokenizer)
    source, target = tmp_path / "few.en", tmp_path / "few.es"
    for path, whole in (source, corpus.train_source), (target, corpus.train_target):
        lines = whole.read_text("utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[:60]), "utf-8")
    options: Any = {"preset": "tiny", "settings": tiny, "quiet": True}
    options |= {"source": source, "target": target}
    result = train(tmp_path / "m", steps=4, allow_changed=True, **options)
    assert result.steps == 4
    assert "other data" in capsys.readouterr().err
    assert durable.sha256(tokenizer) == before
    assert len(TokenStore.open(tmp_path / "m" / "prepared" / "train")) <= 60
    assert train(tmp_path / "m", steps=6, **options).steps == 6


def test_a_damaged_newest_checkpoint_is_named_and_changes_nothing(
    run: Runner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "m", steps=8, valid=False)
    whole = durable.sha256(tmp_path / "m" / "model.safetensors")
    damaged = tmp_path / "m" / "checkpoints" / "step-8" / "optimizer.safetensors"
    content = bytearray(damaged.read_bytes())
    content[-5] ^= 1
    damaged.write_bytes(content)
    (tmp_path / "m" / "model.safetensors").unlink()
    capsys.readouterr()
    run(tmp_path / "m", steps=8, valid=False)
    said = capsys.readouterr().err
    assert f"{damaged} was damaged or altered: going on from step-4 instead" in said
    assert durable.sha256(tmp_path / "m" / "model.safetensors") == whole


def test_a_touched_corpus_with_the_same_text_goes_on(
    run: Runner, corpus: Any, tmp_path: Path
) -> None:
    run(tmp_path / "m", steps=2)
    corpus.train_source.touch()
    assert run(tmp_path / "m", steps=4).steps == 4
    assert not (tmp_path / "m" / "prepared.new").exists()


def test_two_runs_in_one_folder_do_not_harm_each_other(
    run: Runner, tmp_path: Path
) -> None:
    with (
        only_run_in(tmp_path / "m"),
        pytest.raises(TrainingError, match="another run is at work in"),
    ):
        run(tmp_path / "m", steps=2)
    assert run(tmp_path / "m", steps=2).steps == 2


def test_a_damaged_model_is_finished_again(run: Runner, tmp_path: Path) -> None:
    run(tmp_path / "m", steps=2)
    before = durable.sha256(tmp_path / "m" / "model.safetensors")
    (tmp_path / "m" / "model.safetensors").unlink()
    run(tmp_path / "m", steps=2)
    assert durable.sha256(tmp_path / "m" / "model.safetensors") == before


def test_tsv_without_validation_and_separate_vocabularies(
    corpus: Any,
    tiny: dict[str, Any],
    tmp_path: Path,
) -> None:
    pairs = zip(
        corpus.train_source.read_text("utf-8").splitlines(),
        corpus.train_target.read_text("utf-8").splitlines(),
        strict=True,
    )
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    train(
        tmp_path / "m",
        source=table,
        preset="tiny",
        steps=2,
        settings=tiny | {"tokenizer.shared_vocabulary": False},
        quiet=True,
    )
    assert (tmp_path / "m" / "tokenizer.source.model").exists()
    assert dragoman.load(tmp_path / "m").translate(["Hello."])


def test_another_number_of_threads_is_noticed_and_may_be_allowed(
    run: Runner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "m", steps=2, valid=False)
    more: Any = {"settings": {"training.threads": 2}, "valid": False}
    with pytest.raises(TrainingError, match=r"1 threads then, 2 now.*--allow"):
        run(tmp_path / "m", steps=4, **more)
    assert run(tmp_path / "m", steps=4, allow_changed=True, **more).steps == 4
    said = capsys.readouterr().err.splitlines()
    assert len([line for line in said if "1 threads then, 2 now" in line]) == 1
    assert run(tmp_path / "m", steps=6, **more).steps == 6


def test_it_runs_outside_the_main_thread(run: Runner, tmp_path: Path) -> None:
    results: list[TrainingResult] = []
    thread = threading.Thread(
        target=lambda: results.append(run(tmp_path / "m", steps=2))
    )
    thread.start()
    thread.join()
    assert results[0].ending is Ending.BUDGET


def test_a_validation_target_alone_is_refused(corpus: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give both"):
        train(
            tmp_path / "m",
            source=corpus.train_source,
            target=corpus.train_target,
            valid_target=corpus.valid_target,
        )


def test_files_of_unequal_length_are_refused(corpus: Any, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="lines but"):
        train(tmp_path / "m", source=corpus.train_source, target=corpus.valid_target)
