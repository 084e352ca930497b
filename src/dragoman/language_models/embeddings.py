"""Words as vectors: static ones from the vocabulary, contextual ones from texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.errors import ConfigError
from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.encoder_only import EncoderOnly
from dragoman.model_folder import SavedModel
from dragoman.special_tokens import END, PAD
from dragoman.text.tokenizer import Tokenizer

ROWS_AT_ONCE = 32
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Embeddings:
    """Each token of some texts in context; text k owns `tokens[starts[k]:starts[k+1]]`.

    `texts` holds the mean over the tokens of each text.
    """

    tokens: NDArray[np.int64]
    pieces: tuple[str, ...]
    starts: NDArray[np.int64]
    vectors: Vectors  # (token, d_model)
    texts: Vectors  # (text, d_model)


@torch.inference_mode()
def contextual(
    model: EncoderOnly, tokenizer: Tokenizer, texts: Sequence[Sequence[int]]
) -> Embeddings:
    """Read texts, some at a time, and keep what leaves the encoder."""
    if not texts or not all(texts):
        raise ConfigError("a text without a word has no vectors: give other texts")
    device, rows = model.output_weight.device, []
    for start in range(0, len(texts), ROWS_AT_ONCE):
        some = texts[start : start + ROWS_AT_ONCE]
        width = max(map(len, some)) + 1
        padded = [[*text, END, *[PAD] * (width - len(text) - 1)] for text in some]
        source = torch.tensor(padded, device=device)
        features = model.features(source, source).float().cpu().numpy()
        rows += [seen[: len(text)] for seen, text in zip(features, some, strict=True)]
    tokens = [token for text in texts for token in text]
    return Embeddings(
        tokens=np.array(tokens, np.int64),
        pieces=tuple(tokenizer.pieces(tokens)),
        starts=np.cumsum([0, *map(len, texts)]),
        vectors=np.concatenate(rows),
        texts=np.stack([row.mean(axis=0) for row in rows]),
    )


def static(saved: SavedModel) -> Vectors:
    """Give the learned vector of each id of the vocabulary (vocabulary, d_model)."""
    model = saved.model
    embed = model.embed_target if isinstance(model, DecoderOnly) else model.embed_source
    return embed.tokens.weight.detach().float().cpu().numpy()


@dataclass(frozen=True)
class Neighbour:
    """A piece of the vocabulary, and the cosine between its vector and a word's."""

    piece: str
    cosine: float


def neighbours(saved: SavedModel, word: str, count: int = 10) -> list[Neighbour]:
    """Give the pieces whose vectors point most nearly where a word's does.

    A word of several pieces is their mean.
    """
    tokenizer, vectors = saved.tokenizers.source, static(saved)
    own = tokenizer.encode(word.strip())
    if not own or count < 1:
        raise ConfigError("there is no word to find neighbours of: give one")
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    mean = vectors[own].mean(axis=0)
    cosines = unit @ (mean / max(float(np.linalg.norm(mean)), 1e-12))
    cosines[: END + 1] = -2.0
    cosines[own] = -2.0
    best = np.argsort(-cosines, kind="stable")[: min(count, int((cosines > -2).sum()))]
    pieces = tokenizer.pieces(best.tolist())
    return [Neighbour(p, float(cosines[i])) for p, i in zip(pieces, best, strict=True)]


def write_npz(
    path: Path, saved: SavedModel, embeddings: Embeddings | None = None
) -> None:
    """Write vocabulary and static vectors, and contextual ones if there are any."""
    tokenizer = saved.tokenizers.source
    arrays: dict[str, NDArray[Any]] = {
        "vocabulary": np.array(tokenizer.pieces(range(tokenizer.vocabulary_size))),
        "static": static(saved),
    }
    if embeddings is not None:
        arrays |= {
            "tokens": embeddings.tokens,
            "pieces": np.array(embeddings.pieces),
            "starts": embeddings.starts,
            "contextual": embeddings.vectors,
            "texts": embeddings.texts,
        }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
