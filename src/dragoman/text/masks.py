"""The word that stands for a hidden one, in texts and in vocabularies."""

from dragoman.errors import TokenizerError
from dragoman.text.tokenizer import Tokenizer

MASK = "[MASK]"


def mask_id(tokenizer: Tokenizer) -> int:
    """Give the id of MASK, which a masked language model's tokenizer has."""
    ids = tokenizer.encode(MASK)
    if len(ids) != 1:
        raise TokenizerError(
            f"this tokenizer has no {MASK}: train the model with --task mlm"
        )
    return ids[0]
