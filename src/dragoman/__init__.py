"""Dragoman: train, score, use and look inside your own Transformer translator.

import dragoman

dragoman.train("MODEL", source="train.en", target="train.de", minutes=10)
translator = dragoman.load("MODEL")
translator.translate(["Let's go!"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dragoman.thread_waiting import wait_briefly

wait_briefly()  # before any of the modules below loads torch

__version__ = "0.1.0"

__all__ = [
    "Client",
    "DragomanError",
    "Glossary",
    "LanguageModel",
    "MaskedLanguageModel",
    "Translator",
    "evaluate",
    "inspect",
    "load",
    "plan",
    "train",
]

_HOMES = {
    "Client": "serving.client",
    "DragomanError": "errors",
    "Glossary": "text.glossary",
    "LanguageModel": "language_models.language_model",
    "MaskedLanguageModel": "language_models.masked_language_model",
    "Translator": "translator",
    "evaluate": "evaluation.report",
    "inspect": "inspection.inspect",
    "load": "translator",
    "plan": "planning.plan",
    "train": "training.train",
}

if TYPE_CHECKING:
    from dragoman.errors import DragomanError
    from dragoman.evaluation.report import evaluate
    from dragoman.inspection.inspect import inspect
    from dragoman.language_models.language_model import LanguageModel
    from dragoman.language_models.masked_language_model import MaskedLanguageModel
    from dragoman.planning.plan import plan
    from dragoman.serving.client import Client
    from dragoman.text.glossary import Glossary
    from dragoman.training.train import train
    from dragoman.translator import Translator

    load = Translator.load


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
    """Import a public name when it is first used, as torch takes a second to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    home = import_module(f"dragoman.{_HOMES[name]}")
    return home.Translator.load if name == "load" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
