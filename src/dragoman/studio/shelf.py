"""The models that one studio shows: each folder, and each checkpoint inside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from dragoman.errors import StudioError
from dragoman.model.weights import set_weights
from dragoman.model_folder import SavedModel, build_for, load_translator
from dragoman.training.checkpoints import Checkpoints, read_weights, step_of
from dragoman.translator import Translator


@dataclass(frozen=True)
class Volume:
    """One model to show: a folder, or a checkpoint of the run in it."""

    name: str
    folder: Path
    checkpoint: Path | None = None

    @property
    def step(self) -> int | None:
        """The update that the checkpoint was written after."""
        return None if self.checkpoint is None else step_of(self.checkpoint)


class Shelf:
    """Loads models when they are first asked for, and keeps them."""

    def __init__(self, folders: Sequence[Path], device: str = "auto") -> None:
        self.device = device
        self.volumes = {volume.name: volume for volume in _volumes(folders)}
        self._loaded: dict[str, Translator] = {}
        self._saved: dict[Path, SavedModel] = {}
        self._lock = Lock()

    def translator(self, name: str) -> Translator:
        """Give the model of this name, ready to translate."""
        volume = self.volume(name)
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self.fresh(volume)
            return self._loaded[name]

    def saved(self, volume: Volume) -> SavedModel:
        """Read the settings and tokenizers of a folder; its weights are the last."""
        with self._lock:
            if volume.folder not in self._saved:
                self._saved[volume.folder] = load_translator(volume.folder)
            return self._saved[volume.folder]

    def fresh(self, volume: Volume) -> Translator:
        """Load a model anew, for work that must not disturb the one on show."""
        saved = load_translator(volume.folder)
        if volume.checkpoint is not None:
            saved = at_checkpoint(saved, volume.checkpoint)
        saved.model.lay_out_for_steps()
        return Translator(saved, self.device)

    def volume(self, name: str) -> Volume:
        """Find a model by the name that the page calls it."""
        try:
            return self.volumes[name]
        except KeyError:
            raise StudioError(
                f"there is no model {name!r} here: choose one of "
                f"{', '.join(self.volumes)}"
            ) from None

    def checkpoints(self, volume: Volume) -> list[Volume]:
        """List the checkpoints of the same run, oldest first."""
        same = [v for v in self.volumes.values() if v.folder == volume.folder]
        return [v for v in same if v.checkpoint is not None]


def at_checkpoint(saved: SavedModel, checkpoint: Path) -> SavedModel:
    """Give the model as it was at a checkpoint of its run."""
    model = build_for(saved.config, saved.tokenizers)
    set_weights(model, read_weights(checkpoint))
    return SavedModel(model.eval(), saved.tokenizers, saved.config, saved.languages)


def _volumes(folders: Sequence[Path]) -> list[Volume]:
    found = []
    for folder, name in zip(folders, _names(folders), strict=True):
        found.append(Volume(name, folder))
        found += [
            Volume(f"{name}@{path.name}", folder, path)
            for path in Checkpoints(folder / "checkpoints", keep=1).saved()
        ]
    return found


def _names(folders: Sequence[Path]) -> list[str]:
    """Call each folder by its last part, or by as many as tell it from the others."""
    whole = [folder.resolve() for folder in folders]
    if len(set(whole)) < len(whole):
        raise StudioError("a model was named twice: name each folder once")
    for parts in range(1, max(len(path.parts) for path in whole) + 1):
        names = ["/".join(path.parts[-parts:]) for path in whole]
        if len(set(names)) == len(names):
            return names
    raise AssertionError(folders)
