"""What all processes of a run must agree on first: its settings and its data."""

from dataclasses import dataclass

from dragoman.config import Config
from dragoman.errors import TrainingError
from dragoman.text.corpus import Corpus, count_pairs
from dragoman.training.learning_speed import learning_speed
from dragoman.training.preparation import Prepared, open_same
from dragoman.training.progress import ProgressBar
from dragoman.training.recipe import choose_recipe
from dragoman.training.request import Request
from dragoman.training.run_data import RunData
from dragoman.training.run_record import (
    RunRecord,
    refuse_other_settings,
)
from dragoman.training.starting_point import refuse_another_start
from dragoman.training.tasks import KINDS


@dataclass(frozen=True)
class Settled:
    """The settings of a run, and the speed on which their choice rests, if it does."""

    config: Config
    speed: float | None  # target tokens a second, of all processes together


def agree_on_settings(
    request: Request, earlier: RunRecord | None, progress: ProgressBar
) -> Settled:
    """Let the first process choose, and the others follow."""
    if not request.processes.first:
        return Settled(Config.from_dict(request.processes.tell(None)), None)
    settled = _choose_settings(request, earlier, progress)
    if earlier is not None:
        refuse_another_start(request.folder, earlier.started_from, request.start)
        refuse_other_settings(
            request.folder,
            earlier.config,
            settled.config,
            allow_changed=request.allow_changed,
        )
    request.processes.tell(settled.config.to_dict())
    return settled


def _choose_settings(
    request: Request, earlier: RunRecord | None, progress: ProgressBar
) -> Settled:
    """Choose once: a run that goes on keeps its settings, and measures nothing."""
    known = None if earlier is None else earlier.speed
    if earlier is not None and request.preset is None:
        progress.say("settings as before in this folder")
        return Settled(earlier.config.with_settings(request.settings), known)
    if request.start is not None:
        progress.say(f"settings, vocabulary and weights of {request.start.folder}")
        return Settled(request.start.config(request.settings), known)
    pairs = 0
    if request.preset is None and not any(map(_is_stream, request.corpora)):
        pairs = count_pairs(request.corpora)
    noun = "lines" if request.task in KINDS else "pairs"

    def speed_of(config: Config) -> float:
        threads = request.processes.threads(config.training.threads)
        speed = learning_speed(config, request.device, threads)
        return request.processes.count * speed

    recipe = choose_recipe(
        request.preset,
        request.budget.minutes,
        pairs,
        request.settings,
        speed_of,
        noun,
    )
    progress.say(f"preset {recipe.preset}: {recipe.why}")
    return Settled(recipe.config, known if earlier is not None else recipe.speed)


def _is_stream(corpus: Corpus) -> bool:
    """Say whether it can be read but once, as a pipe can."""
    path = corpus.source
    return path.exists() and not (path.is_file() or path.is_dir())


def prepare_everywhere(
    request: Request, config: Config, earlier: RunRecord | None
) -> Prepared:
    """Let the first process prepare, or one on each machine that sees none of it."""
    processes, place = request.processes, request.folder / "prepared"
    given = None if request.start is None else request.start.saved.tokenizers
    data = RunData(
        request.folder,
        request.corpora,
        request.valid,
        config,
        given,
        request.allow_dropped,
    )
    allow, quiet = request.allow_changed, request.quiet
    prepared = None
    if processes.first:
        prepared = data.get(earlier, allow_changed=allow, quiet=quiet)
    same = processes.tell(None if prepared is None else prepared.store.fingerprint)
    if prepared is None and processes.first_here:
        prepared = open_same(place, same, request.corpora, config)
        prepared = prepared or data.get(None, allow_changed=allow, quiet=quiet)
    processes.wait()
    if prepared is None:
        prepared = open_same(place, same, request.corpora, config)
    if prepared is None or prepared.store.fingerprint != same:
        raise TrainingError(
            f"process {processes.rank} finds other data in {place} than the first "
            "process: give every machine the same corpus, or a folder they share"
        )
    return prepared
