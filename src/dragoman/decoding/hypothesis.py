"""What a search gives back."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """One translation the search considered, in target tokens.

    `tokens` has neither BEGIN nor END. `token_log_probabilities` has one entry per
    token and one more for END where the model ended the sentence itself
    (`finished`) rather than being cut at the maximum length. `log_probability` is
    their sum, and `score` that sum after the length penalty.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float
    token_log_probabilities: tuple[float, ...]
    finished: bool
