import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import load_preset
from dragoman.errors import TrainingError
from dragoman.setting_rules import CHOICES
from dragoman.training.budget import Budget
from dragoman.training.run_record import (
    FREE_TO_CHANGE,
    RunRecord,
    changed_settings,
    other_data,
    read_record,
    refuse_other_settings,
)

FOLDER = Path("runs/m")
RECORD = RunRecord(load_preset("tiny"), "0123abcd", Budget(steps=100))


def refuse_other_run(folder: Path, earlier: RunRecord, now: RunRecord) -> None:
    refuse_other_settings(folder, earlier.config, now.config)


def with_settings(settings: dict[str, Any]) -> RunRecord:
    return replace(RECORD, config=RECORD.config.with_settings(settings))


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        replace(RECORD, finished=True),
        replace(RECORD, budget=Budget(minutes=0.5, epochs=2.5)),
        with_settings({"training.adam_betas": (0.8, 0.9)}),
    ],
)
def test_what_is_written_is_what_is_read(record: RunRecord, tmp_path: Path) -> None:
    record.write(tmp_path)
    assert read_record(tmp_path) == record


def test_a_folder_without_a_run_has_no_record(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    assert read_record(tmp_path / "nowhere") is None


def damaged(change: str, plain: Any) -> str:
    match change:
        case "cut off":
            return json.dumps(plain)[:-20]
        case "empty":
            return ""
        case "a list":
            return "[]"
        case "no data":
            del plain["data"]
        case "unknown setting":
            plain["settings"]["model"]["colour"] = "blue"
        case "unknown budget":
            plain["budget"]["weeks"] = 3
        case "no budget at all":
            plain["budget"]["steps"] = 0
    return json.dumps(plain)


@pytest.mark.parametrize(
    "change",
    [
        "cut off",
        "empty",
        "a list",
        "no data",
        "unknown setting",
        "unknown budget",
        "no budget at all",
    ],
)
def test_a_damaged_record_is_one_line_that_names_it(
    tmp_path: Path, change: str
) -> None:
    RECORD.write(tmp_path)
    path = tmp_path / "run.json"
    path.write_text(damaged(change, json.loads(path.read_text("utf-8"))), "utf-8")
    with pytest.raises(TrainingError) as raised:
        read_record(tmp_path)
    message = str(raised.value)
    assert message.startswith(f"{path} cannot be read (")
    assert message.endswith(f"): delete {tmp_path} to begin again")
    assert "\n" not in message


def test_the_same_run_may_go_on() -> None:
    refuse_other_run(FOLDER, RECORD, RECORD)
    refuse_other_run(FOLDER, replace(RECORD, finished=True), RECORD)


@pytest.mark.parametrize(
    "budget", [Budget(steps=500), Budget(minutes=3), Budget(epochs=1.5)]
)
def test_another_budget_may_go_on(budget: Budget) -> None:
    refuse_other_run(FOLDER, RECORD, replace(RECORD, budget=budget))


@pytest.mark.parametrize("name", [*FREE_TO_CHANGE, "decoding.beam_size"])
def test_what_does_not_change_the_learning_may_change(name: str) -> None:
    other = CHOICES[name][1] if name in CHOICES else 7
    refuse_other_run(FOLDER, RECORD, with_settings({name: other}))


def test_a_setting_that_fits_the_same_weights_may_change_on_request() -> None:
    now = with_settings({"training.learning_rate": 0.25, "model.dropout": 0.4})
    with pytest.raises(TrainingError, match="--allow-changed goes on with the new"):
        refuse_other_run(FOLDER, RECORD, now)
    refuse_other_settings(FOLDER, RECORD.config, now.config, allow_changed=True)


@pytest.mark.parametrize(
    "settings",
    [{"model.d_ff": 77}, {"tokenizer.kind": "words"}, {"training.optimizer": "adam"}],
)
def test_what_the_weights_are_made_of_never_changes(settings: dict[str, Any]) -> None:
    now = with_settings(settings)
    with pytest.raises(TrainingError, match=f"{next(iter(settings))} = .* another run"):
        refuse_other_settings(FOLDER, RECORD.config, now.config, allow_changed=True)


def test_other_settings_are_refused_in_one_line() -> None:
    now = with_settings({"model.d_ff": 77})
    before = RECORD.config.model.d_ff
    with pytest.raises(TrainingError) as raised:
        refuse_other_run(FOLDER, RECORD, now)
    assert str(raised.value) == (
        f"runs/m holds a run with model.d_ff = {before}, and this command says 77: "
        "give the same settings to go on, or another folder for another run"
    )


def test_other_data_is_refused_in_one_line() -> None:
    assert str(other_data(FOLDER)) == (
        "runs/m holds a run on other data (the corpus has changed since): restore the "
        "corpus to go on, give another folder for another run, or --allow-changed to "
        "go on with the new one"
    )


def test_every_difference_that_matters_is_listed() -> None:
    now = with_settings(
        {"model.dropout": 0.45, "training.seed": 9, "training.save_every": 3}
    )
    dropout, seed = RECORD.config.model.dropout, RECORD.config.training.seed
    assert changed_settings(RECORD.config, now.config) == [
        ("model.dropout", dropout, 0.45),
        ("training.seed", seed, 9),
    ]
    assert changed_settings(RECORD.config, RECORD.config) == []
