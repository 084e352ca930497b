"""The one place where a configuration becomes a model."""

from dragoman.config import ModelConfig
from dragoman.model.transformer import Transformer


def build_model(
    config: ModelConfig,
    source_vocabulary: int,
    target_vocabulary: int | None = None,
) -> Transformer:
    """Build the model; with no target vocabulary, both languages share the source's."""
    shared = target_vocabulary is None
    target = source_vocabulary if target_vocabulary is None else target_vocabulary
    return Transformer(config, source_vocabulary, target, shared)
