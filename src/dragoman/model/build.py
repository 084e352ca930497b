"""The one place where a configuration becomes a model."""

from dragoman.config import ModelConfig
from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.encoder_only import EncoderOnly
from dragoman.model.network import TranslationNetwork
from dragoman.model.recurrent import RecurrentModel
from dragoman.model.ssru import SSRUTransformer
from dragoman.model.transformer import Transformer


def build_model(
    config: ModelConfig,
    source_vocabulary: int,
    target_vocabulary: int | None = None,
) -> TranslationNetwork:
    """Build the model; with no target vocabulary, both languages share the source's."""
    shared = target_vocabulary is None
    target = source_vocabulary if target_vocabulary is None else target_vocabulary
    match config.kind:
        case "ssru":
            return SSRUTransformer(config, source_vocabulary, target, shared)
        case "recurrent":
            return RecurrentModel(config, source_vocabulary, target, shared)
        case "language_model":
            return DecoderOnly(config, source_vocabulary)
        case "masked_language_model":
            return EncoderOnly(config, source_vocabulary)
        case _:
            return build_transformer(config, source_vocabulary, target_vocabulary)


def build_transformer(
    config: ModelConfig,
    source_vocabulary: int,
    target_vocabulary: int | None = None,
) -> Transformer:
    """Build a Transformer, for whoever needs to know that it is one."""
    shared = target_vocabulary is None
    target = source_vocabulary if target_vocabulary is None else target_vocabulary
    return Transformer(config, source_vocabulary, target, shared)
