"""The models that are served: loaded, tried, found by their languages, and replaced.

A folder of models may be watched: a new version is loaded beside the old one, tried on
its own validation sentences, and takes its place only if it translates them.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from dragoman.alignment import Aligner
from dragoman.errors import DragomanError, ServingError
from dragoman.inspection.alignment_head import alignment_head
from dragoman.inspection.validation_pairs import validation_pairs
from dragoman.model_files import CHECKSUMS
from dragoman.serving.detection import Detector
from dragoman.serving.refusals import bad_request
from dragoman.serving.work import LoadedModel, Work
from dragoman.translator import Translator

TRIED = 8  # validation sentences of a new version
NAMES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
OLD_CODES = {"iw": "he", "in": "id", "no": "nb"}

log = logging.getLogger("dragoman.serving")


def base_language(code: str) -> str:
    """Give the plain code of a language: en for EN-US, he for iw."""
    base = code.strip().replace("_", "-").partition("-")[0].lower()
    return OLD_CODES.get(base, base)


def language_name(code: str) -> str:
    """Give the English name of a language, or its code."""
    return NAMES.get(code, code)


def load(folder: Path, device: str, threads: int | None) -> LoadedModel:
    """Load a model and let it translate, or say in one line why not."""
    translator = Translator.load(folder, device, threads=threads)
    _ = translator.engine.pytorch  # what only it can do must not wait for it later
    source, target = map(base_language, translator.engine.described.languages)
    model = LoadedModel(
        folder.resolve().name,
        _version(folder),
        (source, target),
        translator,
        Aligner(translator, alignment_head(folder, translator)),
    )
    tried = [pair[0] for pair in validation_pairs(folder, TRIED)] or ["Hello!"]
    found = model.answer([Work(model.key, text) for text in tried])
    if not any(answer.best.text.strip() for answer in found):
        raise ServingError(
            f"the model {model.name} translates none of its own validation sentences: "
            "train it again"
        )
    return model


def _version(folder: Path) -> str:
    from dragoman.durable import sha256

    return sha256(folder / CHECKSUMS)[:12]


class Shelf:
    """The models by their languages; the first of a pair is the one that is used."""

    def __init__(self, models: Iterable[LoadedModel]) -> None:
        self.models = tuple(models)
        self._detector: Detector | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of languages, in the order of the models."""
        return list(dict.fromkeys(model.languages for model in self.models))

    @property
    def sources(self) -> list[str]:
        """The languages that are translated from."""
        return list(dict.fromkeys(source for source, _ in self.pairs))

    def targets(self, source: str) -> list[str]:
        """Give the languages that one is translated into."""
        return [target for a, target in self.pairs if a == source]

    @property
    def detector(self) -> Detector:
        """What tells the languages apart that are translated from."""
        if self._detector is None or self._detector.languages != sorted(self.sources):
            self._detector = Detector(self.sources)
        return self._detector

    def find(self, source: str, target: str, version: str = "") -> LoadedModel:
        """Give the model of a pair, of a certain version if asked for."""
        for model in self.models:
            fits = model.languages == (source, target)
            if fits and version in ("", model.version, model.name, model.key):
                return model
        if version and (source, target) in self.pairs:
            raise bad_request(f"there is no model {version!r} for {source} to {target}")
        raise bad_request(f"{source} to {target} is not supported")

    def replace(self, old: LoadedModel | None, new: LoadedModel | None) -> None:
        """Let a model take the place of another, come beside the others, or go."""
        kept = [model for model in self.models if model is not old]
        if new is not None:
            place = self.models.index(old) if old in self.models else len(kept)
            kept.insert(place, new)
        self.models = tuple(kept)


class Watcher:
    """Looks at a directory of models from time to time, and keeps the shelf as it is.

    A model that cannot be loaded or does not translate leaves the old one in place.
    """

    def __init__(
        self,
        directory: Path,
        shelf: Shelf,
        load: Callable[[Path], LoadedModel],
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.directory = directory
        self.shelf = shelf
        self._load = load
        self._on_change = on_change
        self._failed: dict[str, str] = {}  # versions that were tried in vain

    def folders(self) -> dict[str, Path]:
        """Give the model folders that are whole, by name."""
        return {
            path.name: path
            for path in sorted(self.directory.iterdir())
            if (path / CHECKSUMS).is_file()
        }

    async def look(self) -> None:
        """Load what is new and let go of what is no longer there."""
        found = self.folders()
        ours = {m.name: m for m in self.shelf.models}
        for name, folder in found.items():
            old = ours.get(name)
            try:
                version = _version(folder)
                if old is not None and old.version == version:
                    continue
                if self._failed.get(name) == version:
                    continue
                new = await asyncio.to_thread(self._load, folder)
            except (DragomanError, OSError) as error:
                log.warning("model %s was not taken: %s", name, error)
                self._failed[name] = version
                continue
            self.shelf.replace(old, new)
            self._on_change()
            log.info("model %s is served", new.key)

    async def run(self, seconds: float) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(seconds)
            try:
                await self.look()
            except OSError as error:
                log.warning("cannot look at the models: %s", error.strerror)
