"""Refuses what a model with unusable weights finds: nothing, or scores of no number."""

import math
from collections.abc import Sequence

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.errors import ModelFolderError


def refuse_unsound(found: Sequence[Sequence[Hypothesis]]) -> None:
    """Say in one line that the weights are to blame, where a search came to nothing."""
    for hypotheses in found:
        if not hypotheses or any(math.isnan(h.log_probability) for h in hypotheses):
            raise ModelFolderError(
                "the model's weights give no numbers for this sentence: train it "
                "again, or copy it from where it is whole"
            )
