"""What a run is to learn, and the text that it learns from."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.arguments import check_choice, paths_of
from dragoman.config import Config
from dragoman.errors import ConfigError
from dragoman.text.corpus import Corpus
from dragoman.training.corpora import File

# The kind of model that a task other than translation makes.
KINDS = {"lm": "language_model", "mlm": "masked_language_model"}
TASKS = ("translation", *KINDS)
NOTHING = (None, None)


Given = tuple[object | None, object | None]  # to learn from, and to validate on


def refuse_unfit_files(task: str, *, pairs: Given, text: Given) -> None:
    """Say in one line which files a task takes, if these are others."""
    check_choice("task", task, TASKS)
    if task == "translation":
        if text != NOTHING:
            raise ConfigError(
                "running text teaches no translation: choose the task lm or mlm for "
                "it, or give source and target"
            )
        if pairs[0] is None:
            raise ConfigError("there is nothing to learn from: give source and target")
    elif pairs != NOTHING or text[0] is None:
        raise ConfigError(
            f"the task {task} learns from running text: give text, and no source and "
            "target"
        )


def text_corpora(text: File | Sequence[File] | None) -> tuple[Corpus, ...]:
    """Name the files of running text."""
    files = [Path(text)] if isinstance(text, File) else paths_of("text", text or ())
    return tuple(Corpus(file) for file in files)


def refuse_other_task(config: Config, task: str) -> None:
    """Say in one line that the settings make another kind of model than the task."""
    kind = config.model.kind
    if KINDS.get(task) != (kind if config.model.reads_text else None):
        raise ConfigError(
            f"model.kind = {kind!r} is not what the task {task!r} makes: leave the "
            "setting out, and choose the task"
        )
