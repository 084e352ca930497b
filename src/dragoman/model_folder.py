"""A saved model is a folder: weights, settings, tokenizer, card and checksums.

Nothing in it can run: tensors are safetensors, settings are JSON, and every file is
checked against SHA256SUMS before it is believed.
"""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from safetensors import SafetensorError
from torch import nn

from dragoman import durable
from dragoman.config import TEXT_KINDS, TRANSLATOR_KINDS, Config
from dragoman.decoding.shortlist import Shortlist
from dragoman.errors import ConfigError, ModelFolderError
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.model.weights import get_weights, set_weights
from dragoman.model_files import (
    CARD,
    CHECKSUMS,
    CONFIG,
    FORMAT,
    SHORTLIST,
    WEIGHTS,
    ModelDescription,
    check_folder,
    read_checksums,
    refuse_other_kind,
    write_checksums,
)
from dragoman.text.profile import TextProfile
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.weights_file import check_weights_file, read_weights_file


@dataclass(frozen=True)
class SavedModel:
    """What a model folder holds: all that translating needs."""

    model: TranslationNetwork
    tokenizers: TokenizerPair
    config: Config
    languages: tuple[str, str]
    shortlist: Shortlist | None = None
    profile: TextProfile | None = None


def build_for(config: Config, tokenizers: TokenizerPair) -> TranslationNetwork:
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
    profile: TextProfile | None = None,
) -> None:
    """Write the model folder; its checksums come last and make it whole."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CHECKSUMS).unlink(missing_ok=True)
    try:
        durable.replace_tensors(folder / WEIGHTS, get_weights(model))
    except SafetensorError as error:
        raise ModelFolderError(
            f"cannot save the model in {folder} ({error}): make room there and try "
            "again"
        ) from error
    description = {
        "format": FORMAT,
        "languages": list(languages),
        "settings": config.to_dict(),
        "text": None if profile is None else profile.to_dict(),
    }
    durable.write_text(folder / CONFIG, json.dumps(description, indent=2) + "\n")
    durable.write_text(folder / CARD, card)
    written = [folder / WEIGHTS, folder / CONFIG, folder / CARD]
    write_checksums(folder, written + tokenizers.save(folder))


def load_translator(folder: Path) -> SavedModel:
    """Read a translator, or say what the model is instead."""
    described = ModelDescription.read(folder)
    refuse_other_kind(folder, described.config, TRANSLATOR_KINDS)
    return load_model(folder)


def load_text_model(folder: Path, kind: str | None = None) -> SavedModel:
    """Read a language model of this kind, or of either, or say what it is instead."""
    described = ModelDescription.read(folder)
    refuse_other_kind(folder, described.config, (kind,) if kind else TEXT_KINDS)
    return load_model(folder)


def load_model(folder: Path) -> SavedModel:
    """Read a model folder, or say in one line what is wrong with it."""
    check_folder(folder)
    described = ModelDescription.read(folder)
    try:
        config, tokenizers = described.config, described.tokenizers
        build = partial(build_for, config, tokenizers)
        check_weights_file(folder / WEIGHTS, config.model, build)
        model = build()
        set_weights(model, read_weights_file(folder / WEIGHTS))
    except (KeyError, TypeError, ValueError, OSError, SafetensorError) as error:
        raise ModelFolderError(f"{folder} does not hold a model: {error}") from error
    except ConfigError as error:
        raise ModelFolderError(f"{folder} cannot be used: {error}") from error
    # One that is not listed was learned for a model that training has replaced.
    listed = SHORTLIST in read_checksums(folder)
    return SavedModel(
        model.eval(),
        described.tokenizers,
        described.config,
        described.languages,
        Shortlist.read(folder / SHORTLIST) if listed else None,
        described.profile,
    )


def save_shortlist(folder: Path, shortlist: Shortlist) -> Path:
    """Add a shortlist to a model folder that is whole but for an earlier one."""
    check_folder(folder, besides=(SHORTLIST,))
    listed = {folder / name for name in read_checksums(folder)}
    shortlist.write(folder / SHORTLIST)
    write_checksums(folder, [*(listed | {folder / SHORTLIST})])
    return folder / SHORTLIST
