"""How well the model does on text that it does not learn from."""

import math
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Self

import torch

from dragoman.config import Config
from dragoman.data.batching import Batch
from dragoman.data.sampler import epoch_batches
from dragoman.evaluation.metrics import corpus_bleu
from dragoman.model.network import TranslationNetwork
from dragoman.model_folder import SavedModel
from dragoman.training.batch_source import batch_reader
from dragoman.training.compilation import uncompiled
from dragoman.training.loss import translation_loss
from dragoman.training.moving_average import MovingAverage
from dragoman.training.preparation import Prepared
from dragoman.training.preparation_text import SIDES
from dragoman.translator import Translator


@dataclass(frozen=True)
class Validation:
    """Loss per token, perplexity and accuracy; BLEU if sentences were translated."""

    loss: float
    accuracy: float
    bleu: float | None

    @property
    def perplexity(self) -> float:
        """How many tokens the model hesitates between, on average."""
        return math.exp(min(self.loss, 50.0))

    def to_dict(self) -> dict[str, float]:
        """Give plain data for the diary."""
        values = {
            "loss": self.loss,
            "perplexity": self.perplexity,
            "accuracy": self.accuracy,
        }
        return values if self.bleu is None else {**values, "bleu": self.bleu}


def describe_validation(result: Validation) -> str:
    """Give a validation as one line."""
    text = (
        f"validation loss {result.loss:.3f}  perplexity {result.perplexity:.2f}  "
        f"accuracy {result.accuracy:.1%}"
    )
    return text if result.bleu is None else f"{text}  greedy BLEU {result.bleu:.1f}"


@dataclass(frozen=True)
class Validator:
    """Measures a model on the validation text, the same way each time."""

    model: TranslationNetwork
    batches: tuple[Batch, ...]
    translator: Translator | None  # none where nothing is translated
    sources: tuple[str, ...]
    references: tuple[str, ...]
    average: MovingAverage | None = None  # what is measured instead, if there is one
    compiled: bool = False

    @classmethod
    def build(
        cls,
        model: TranslationNetwork,
        prepared: Prepared,
        config: Config,
        average: MovingAverage | None = None,
    ) -> Self | None:
        """Get the validation text ready, if there is any."""
        store, wanted = prepared.valid, config.training.valid_sentences
        if store is None:
            return None
        order = epoch_batches(
            store.source_lengths,
            store.target_lengths,
            batch_tokens=config.decoding.batch_tokens,
            seed=0,
            epoch=0,
        )
        device = model.output_weight.device
        as_spelled = config.with_settings({"tokenizer.sampling": 0.0})
        reader = batch_reader(prepared.tokenizers, as_spelled)
        sides: list[tuple[str, ...]] = [(), ()]
        translator = None
        if not config.model.reads_text:
            saved = SavedModel(model, prepared.tokenizers, config, SIDES)
            translator = Translator(saved, str(device))
            sides = [tuple(prepared.valid_text(side)[:wanted]) for side in SIDES]
        return cls(
            model=model,
            batches=tuple(
                reader(store, order[k], (k,)).to(device) for k in range(len(order))
            ),
            translator=translator,
            sources=sides[0],
            references=sides[1],
            average=average,
            compiled=config.training.compile,
        )

    def __call__(self) -> Validation:
        """Measure loss on all pairs and greedy BLEU on the first sentences."""
        was_training = self.model.training
        self.model.eval()
        as_written = uncompiled() if self.compiled else nullcontext()
        average = nullcontext() if self.average is None else self.average.in_place()
        with as_written, average:
            result = self._measure()
        self.model.train(was_training)
        return result

    def _measure(self) -> Validation:
        loss, accuracy = self._loss()
        score = None
        if self.translator is not None and self.sources:
            options = replace(self.translator.options, beam_size=1, max_repeats=0)
            # Constraints take their time while nothing is learned; this is the model.
            translations = self.translator.translate(
                self.sources, options=options, protect=False, split=False, check=False
            )
            score = corpus_bleu(translations, self.references)
        return Validation(loss, accuracy, score)

    def _loss(self) -> tuple[float, float]:
        total = correct = 0.0
        tokens = 0
        with torch.inference_mode():
            for batch in self.batches:
                loss = translation_loss(
                    self.model.features(batch.source, batch.target_in),
                    self.model.output_weight,
                    batch.target_out,
                    label_smoothing=0.0,
                    output_bias=self.model.output_bias,
                )
                total += float(loss.plain)
                correct += float(loss.correct)
                tokens += loss.tokens
        return total / tokens, correct / tokens
