"""A masked language model as people use it: it fills gaps, and gives vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from dragoman.arguments import check_path, check_text, check_whole, texts_of
from dragoman.errors import ConfigError
from dragoman.language_models.embeddings import Embeddings, contextual
from dragoman.model.device import choose_device
from dragoman.model.encoder_only import EncoderOnly
from dragoman.model_folder import SavedModel, load_text_model
from dragoman.special_tokens import END
from dragoman.text.masks import MASK, mask_id
from dragoman.text.normalization import normalize


@dataclass(frozen=True)
class Filling:
    """A word for a gap, with its probability and the text it makes."""

    word: str
    probability: float
    text: str


class MaskedLanguageModel:
    """Finds hidden words from both sides; trained with `--task mlm`."""

    def __init__(self, saved: SavedModel, device: str = "cpu") -> None:
        assert isinstance(saved.model, EncoderOnly)
        self.saved = saved
        self.config = saved.config
        self.tokenizer = saved.tokenizers.source
        self.mask = mask_id(self.tokenizer)
        self.model = saved.model.to(choose_device(device)).eval()

    def __repr__(self) -> str:
        size, window = self.tokenizer.vocabulary_size, self.config.model.window
        return f"MaskedLanguageModel({size:,} subwords, window {window})"

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto") -> Self:
        """Load a masked language model from its folder."""
        check_path("folder", folder)
        return cls(load_text_model(Path(folder), "masked_language_model"), device)

    def fill(self, text: str, count: int = 5) -> list[list[Filling]]:
        """Give the `count` likeliest words for each [MASK] of a text, best first."""
        check_whole("count", count, least=None)
        tokens = self.encode(text)
        gaps = [place for place, token in enumerate(tokens) if token == self.mask]
        if not gaps:
            raise ConfigError(
                f"there is no gap in {text!r}: put {MASK}, as a word by itself, where "
                "a word is missing"
            )
        if not 1 <= count <= self.tokenizer.vocabulary_size - END - 2:
            raise ConfigError(
                f"{count} words cannot be given for a gap: choose at least 1, and no "
                "more than the vocabulary has"
            )
        chances = self._chances(tokens)[gaps]
        best = chances.topk(count)
        return [
            [
                self._filling(tokens, gap, token, probability)
                for token, probability in zip(words, shares, strict=True)
            ]
            for gap, words, shares in zip(
                gaps, best.indices.tolist(), best.values.tolist(), strict=True
            )
        ]

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Give every token of each text in context, and each text's mean."""
        encoded = [self.encode(text) for text in texts_of("texts", texts)]
        return contextual(self.model, self.tokenizer, encoded)

    def encode(self, text: str) -> list[int]:
        """Give the tokens of a text that fits into the window."""
        check_text("text", text)
        tokens = self.tokenizer.encode(normalize(text, self.config.data.normalization))
        if len(tokens) >= self.config.model.window:
            raise ConfigError(
                f"a text of {len(tokens)} tokens does not fit into the "
                f"{self.config.model.window} that this model reads at once: shorten it"
            )
        return tokens

    @torch.inference_mode()
    def _chances(self, tokens: Sequence[int]) -> Tensor:
        """Give the probabilities (length, vocabulary) of words; other ids have none."""
        device = self.model.output_weight.device
        source = torch.tensor([[*tokens, END]], device=device)
        logits = self.model.forward(source, source)[0]
        logits[:, : END + 1] = logits[:, self.mask] = -torch.inf
        return logits.softmax(dim=-1).cpu()

    def _filling(
        self, tokens: Sequence[int], gap: int, token: int, probability: float
    ) -> Filling:
        filled = [*tokens[:gap], token, *tokens[gap + 1 :]]
        word = self.tokenizer.decode([token]).strip()
        return Filling(word, probability, self.tokenizer.decode(filled))
