"""Translators that an experiment trains with the public trainer, scored and kept.

What was trained once is not trained again: an interrupted experiment goes on.
"""

import json
import math
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from dragoman import durable
from dragoman.errors import TrainingError
from dragoman.evaluation.report import evaluate
from dragoman.lab.experiment import Bench, LabStoppedError
from dragoman.lab.parallel_text import ParallelText
from dragoman.model.weights import count_parameters
from dragoman.model_folder import load_model
from dragoman.training.train import train

ASKED, SCORES = "lab-trial.json", "lab-scores.json"


@dataclass(frozen=True)
class Trial:
    """A translator to train: its settings, how long, and what to score it on."""

    name: str
    preset: str
    settings: Mapping[str, Any]
    steps: int | None = None
    minutes: float | None = None
    epochs: float | None = None
    part: Literal["valid", "test"] = "valid"
    beam_size: int = 4
    may_fail: bool = False  # numbers that are none are a finding, not an error


@dataclass(frozen=True)
class Point:
    """How a run stood at one of its validations."""

    step: int
    seconds: float
    loss: float
    bleu: float | None


@dataclass(frozen=True)
class Trained:
    """What became of a trial."""

    failed: bool  # its numbers became none
    parameters: int = 0
    steps: int = 0
    seconds: float = 0.0
    loss: float | None = None  # per validation token
    perplexity: float | None = None
    bleu: float | None = None
    by_length: Sequence[Mapping[str, Any]] = ()
    curve: Sequence[Point] = field(default_factory=tuple)


def train_translator(
    bench: Bench, text: ParallelText, trial: Trial, seed: int
) -> Trained:
    """Train and score a translator, or give what was found when it was trained."""
    name = re.sub(r"[^a-z0-9.]+", "-", trial.name.lower()).strip("-")
    folder = bench.folder / f"{name}-seed-{seed}"
    asked = json.dumps(
        {**asdict(trial), "seed": seed, "text": [str(p) for p in text.train]},
        sort_keys=True,
    )
    kept = _kept(folder, asked)
    if kept is not None:
        return kept
    folder.mkdir(parents=True, exist_ok=True)
    durable.replace_text(folder / ASKED, asked)
    trained = _train(folder, text, trial, seed)
    durable.replace_text(folder / SCORES, json.dumps(asdict(trained)))
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)  # nothing goes on there
    return trained


def _kept(folder: Path, asked: str) -> Trained | None:
    """Read earlier scores; what was asked otherwise makes room."""
    if not (folder / ASKED).exists() or (folder / ASKED).read_text("utf-8") != asked:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    if not (folder / SCORES).exists():
        return None
    values = json.loads((folder / SCORES).read_text("utf-8"))
    curve = tuple(Point(**point) for point in values.pop("curve"))
    return Trained(curve=curve, **values)


def _train(folder: Path, text: ParallelText, trial: Trial, seed: int) -> Trained:
    try:
        result = train(
            folder,
            source=text.train[0],
            target=text.train[1],
            valid_source=text.valid[0],
            valid_target=text.valid[1],
            preset=trial.preset,
            steps=trial.steps,
            minutes=trial.minutes,
            epochs=trial.epochs,
            settings={**trial.settings, "training.seed": seed},
            quiet=True,
        )
    except TrainingError:
        if not trial.may_fail:
            raise
        return Trained(failed=True)
    if result.signal is not None:
        raise LabStoppedError(result.signal)
    source, reference = text.valid if trial.part == "valid" else text.test
    report = evaluate(
        folder, source=source, reference=reference, beam_size=trial.beam_size
    )
    curve = read_curve(folder)
    # A run that was finished before its scores were kept does not validate again.
    loss = curve[-1].loss if result.validation is None else result.validation.loss
    return Trained(
        failed=False,
        parameters=count_parameters(load_model(folder).model),
        steps=result.steps,
        seconds=result.seconds,
        loss=loss,
        perplexity=math.exp(min(loss, 50.0)),
        bleu=report.scores.bleu.score,
        by_length=[bucket.to_dict() for bucket in report.by_length],
        curve=curve,
    )


def read_curve(folder: Path) -> tuple[Point, ...]:
    """Read the validations out of a run's diary, each with the run's own clock."""
    points, seconds = [], 0.0
    for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines():
        noted = json.loads(line)
        seconds = noted.get("seconds", seconds)
        if noted["kind"] == "valid":
            points.append(
                Point(noted["step"], seconds, noted["loss"], noted.get("bleu"))
            )
    return tuple(points)
