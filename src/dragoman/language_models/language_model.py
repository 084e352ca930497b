"""A language model as people use it: it goes on with a text, and judges others."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Self

import torch

from dragoman.arguments import (
    check_flags,
    check_path,
    check_text,
    check_whole,
    texts_of,
)
from dragoman.decoding.options import SearchOptions
from dragoman.errors import EvaluationError
from dragoman.language_models.generation import go_on
from dragoman.language_models.perplexity import OnProgress, Perplexity, text_nats
from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.device import choose_device
from dragoman.model_folder import SavedModel, load_text_model
from dragoman.special_tokens import END
from dragoman.text.normalization import normalize


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


class LanguageModel:
    """Predicts how a text goes on; trained with `--task lm`."""

    def __init__(self, saved: SavedModel, device: str = "cpu") -> None:
        assert isinstance(saved.model, DecoderOnly)
        self.config = saved.config
        self.tokenizer = saved.tokenizers.source
        self.model = saved.model.to(choose_device(device)).eval()

    def __repr__(self) -> str:
        size = self.tokenizer.vocabulary_size
        return f"LanguageModel({size:,} subwords, window {self.config.model.window})"

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto") -> Self:
        """Load a language model from its folder."""
        check_path("folder", folder)
        return cls(load_text_model(Path(folder), "language_model"), device)

    def generate(
        self,
        prompt: str = "",
        *,
        max_tokens: int = 100,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
        one_line: bool = False,
    ) -> str:
        """Give the prompt and how it goes on; `one_line` ends with the line."""
        check_text("prompt", prompt)
        check_whole("max_tokens", max_tokens)
        check_flags(one_line=one_line)
        options = replace(
            SearchOptions.of(self.config.decoding),
            method="sampling",
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
        )
        begun = self.encode(prompt)
        with torch.inference_mode():
            drawn = go_on(self.model, begun, options, self.config.model.window)
            tokens = list(islice(_until_end(drawn) if one_line else drawn, max_tokens))
        return self.decode([*begun, *tokens])

    def perplexity(
        self, lines: Iterable[str], on_progress: OnProgress = _silent
    ) -> Perplexity:
        """Measure how surprising lines of text are; blank ones are passed over."""
        texts = [self._normalized(line) for line in texts_of("lines", lines)]
        texts = [text for text in texts if text]
        if not texts:
            raise EvaluationError("there is no text to measure: give at least one line")
        encoded = self.tokenizer.encode_many(texts)
        stream = [token for line in encoded for token in (*line, END)]
        window = self.config.model.window
        nats = text_nats(self.model, stream, window, on_progress)
        return Perplexity(nats, len(stream), sum(len(text) + 1 for text in texts))

    def _normalized(self, text: str) -> str:
        return normalize(text, self.config.data.normalization)

    def encode(self, text: str) -> list[int]:
        """Encode lines of which the last is not over yet."""
        *whole, last = map(self._normalized, text.split("\n"))
        ended = [[*self.tokenizer.encode(line), END] for line in whole if line]
        return [token for line in ended for token in line] + self.tokenizer.encode(last)

    def decode(self, tokens: list[int]) -> str:
        """Give the lines that tokens spell."""
        lines: list[list[int]] = [[]]
        for token in tokens:
            if token == END:
                lines.append([])
            else:
                lines[-1].append(token)
        return "\n".join(map(self.tokenizer.decode, lines))


def _until_end(tokens: Iterator[int]) -> Iterator[int]:
    for token in tokens:
        if token == END:
            return
        yield token
