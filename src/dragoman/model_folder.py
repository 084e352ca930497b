"""A saved model is a folder: weights, settings, tokenizer, card and checksums.

Nothing in it can run: tensors are safetensors, settings are JSON, and every file is
checked against SHA256SUMS before it is believed.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from dragoman import durable
from dragoman.config import Config, read_saved
from dragoman.errors import ConfigError, ModelFolderError, TokenizerError
from dragoman.model.build import build_model
from dragoman.model.transformer import Transformer
from dragoman.model.weights import get_weights, set_weights
from dragoman.text.tokenizer_pair import TokenizerPair

WEIGHTS, CONFIG, CARD, CHECKSUMS = (
    "model.safetensors",
    "config.json",
    "README.md",
    "SHA256SUMS",
)
FORMAT = 1


@dataclass(frozen=True)
class SavedModel:
    """What a model folder holds: all that translating needs."""

    model: Transformer
    tokenizers: TokenizerPair
    config: Config
    languages: tuple[str, str]


def build_for(config: Config, tokenizers: TokenizerPair) -> Transformer:
    """Build a model whose vocabularies are those of the tokenizers."""
    target = None if tokenizers.shared else tokenizers.target.vocabulary_size
    return build_model(config.model, tokenizers.source.vocabulary_size, target)


def save_model(
    folder: Path,
    model: nn.Module,
    tokenizers: TokenizerPair,
    config: Config,
    languages: tuple[str, str],
    card: str,
) -> None:
    """Write the model folder; its checksums come last and make it whole."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CHECKSUMS).unlink(missing_ok=True)
    try:
        save_file(get_weights(model), folder / WEIGHTS)
    except SafetensorError as error:
        raise ModelFolderError(
            f"cannot save the model in {folder} ({error}): make room there and try "
            "again"
        ) from error
    description = {
        "format": FORMAT,
        "languages": list(languages),
        "settings": config.to_dict(),
    }
    durable.write_text(folder / CONFIG, json.dumps(description, indent=2) + "\n")
    durable.write_text(folder / CARD, card)
    written = [folder / WEIGHTS, folder / CONFIG, folder / CARD]
    write_checksums(folder, written + tokenizers.save(folder))


def write_checksums(folder: Path, files: list[Path]) -> None:
    """Note the SHA-256 of each file, in the form that `sha256sum --check` reads."""
    lines = [f"{durable.sha256(path)}  {path.name}\n" for path in sorted(files)]
    durable.replace_text(folder / CHECKSUMS, "".join(lines))


def load_model(folder: Path) -> SavedModel:
    """Read a model folder, or say in one line what is wrong with it."""
    check_folder(folder)
    description = _read_description(folder / CONFIG)
    try:
        config = read_saved(description["settings"])
        source_language, target_language = description["languages"]
        tokenizers = TokenizerPair.load(folder)
        model = build_for(config, tokenizers)
        set_weights(model, load_file(folder / WEIGHTS))
    except (KeyError, TypeError, ValueError, OSError, SafetensorError) as error:
        raise ModelFolderError(f"{folder} does not hold a model: {error}") from error
    except (ConfigError, TokenizerError) as error:
        raise ModelFolderError(f"{folder} cannot be used: {error}") from error
    return SavedModel(
        model.eval(), tokenizers, config, (source_language, target_language)
    )


def is_whole(folder: Path) -> bool:
    """Say whether a model was saved here, and is as it was saved."""
    try:
        check_folder(folder)
    except ModelFolderError:
        return False
    return True


def check_folder(folder: Path) -> None:
    """Compare every file with its checksum."""
    if not folder.is_dir():
        raise ModelFolderError(
            f"there is no model folder {folder}: `dragoman train {folder}` makes one"
        )
    if not (folder / CHECKSUMS).is_file():
        raise ModelFolderError(_why_unfinished(folder))
    names = []
    for line in (folder / CHECKSUMS).read_text("utf-8", "replace").splitlines():
        expected, _, name = line.partition("  ")
        if not name:
            raise ModelFolderError(
                f"{folder / CHECKSUMS} was truncated or altered: copy the folder again"
            )
        names.append(name)
        if "/" in name or not (folder / name).is_file():
            raise ModelFolderError(f"{folder / name} is missing: copy the folder again")
        if durable.sha256(folder / name) != expected:
            raise ModelFolderError(
                f"{folder / name} was truncated or altered (its SHA-256 is not the one "
                f"in {CHECKSUMS}): copy the folder again"
            )
    for name in (WEIGHTS, CONFIG):
        if name not in names:
            raise ModelFolderError(f"{folder / CHECKSUMS} does not list {name}")


def _why_unfinished(folder: Path) -> str:
    if (folder / "checkpoints").is_dir():
        return (
            f"{folder} holds a training run that has not finished: "
            "run the same `dragoman train` command again to go on"
        )
    return f"{folder} is not a model folder: it has no {CHECKSUMS}"


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ModelFolderError(f"{path} is not JSON: {error}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFolderError(
            f"{path} is not of format {FORMAT}, the one this Dragoman reads: "
            "use the Dragoman that wrote it, or train again"
        )
    return description
