"""How the search weighs long translations against short ones (§6.1)."""


def length_penalty(length: int, alpha: float) -> float:
    """Give the divisor of a log-probability summed over `length` tokens, END included.

    This is lp(Y) of the paper's reference [38], Wu et al. 2016, equation 14: with α = 0
    it is always 1 and short translations win, with larger α longer ones gain.
    """
    return float(((5 + length) / 6) ** alpha)
