"""How the search weighs long translations against short ones (§6.1)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LengthPenalty:
    """The divisor of a log-probability summed over so many tokens, END included.

    "paper" is lp(Y) of the paper's reference [38], Wu et al. 2016, equation 14: with
    α = 0 it is always 1 and short translations win, with larger α longer ones gain.
    "none" is always 1. "average" is the length: the mean log-probability of a token.
    None of them falls as a translation grows, which stopping early relies on.
    """

    kind: str
    alpha: float

    def __call__(self, length: int) -> float:
        """Give the divisor for a translation of `length` tokens."""
        match self.kind:
            case "none":
                return 1.0
            case "average":
                return float(length)
            case _:
                return float(((5 + length) / 6) ** self.alpha)
