"""Learning a model's vocabulary shortlist from the text it was trained on."""

from pathlib import Path

import torch

from dragoman.data.token_store import TokenStore
from dragoman.data.word_translations import WordTranslations
from dragoman.decoding.shortlist import Shortlist
from dragoman.errors import ConfigError
from dragoman.model_files import ModelDescription
from dragoman.model_folder import save_shortlist
from dragoman.special_tokens import PAD

CANDIDATES = 200  # of each source token
COMMON = 1000  # allowed in every translation


def learn_shortlist(
    folder: Path, candidates: int = CANDIDATES, common: int = COMMON
) -> Shortlist:
    """Learn the likely translations of each token, and add them to the model folder.

    Where both languages share a vocabulary, every token may also stay as it is: names
    and placeholders do.
    """
    described = ModelDescription.read(folder)
    prepared = folder / "prepared" / "train"
    if not prepared.is_dir():
        raise ConfigError(
            f"{prepared} is not there, and a shortlist is learned from a model's own "
            "training text: run this where the model was trained"
        )
    tokenizers = described.tokenizers
    source = tokenizers.source.vocabulary_size
    target = tokenizers.target.vocabulary_size
    learned = WordTranslations.learn(TokenStore.open(prepared), max(source, target))
    table = torch.from_numpy(learned.candidates(source, candidates, PAD))
    if tokenizers.shared:
        table = torch.cat([torch.arange(source)[:, None], table], dim=1)
    commonest = torch.from_numpy(learned.commonest(common))
    shortlist = Shortlist.make(table, commonest[commonest < target])
    save_shortlist(folder, shortlist)
    return shortlist
