"""What counting alone can know of a text: n-grams, as well as they can be had."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

DISCOUNTS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class KneserNey:
    """Runs of up to `order` tokens, interpolated after Kneser and Ney.

    The longest runs are counted as they come; of shorter ones it is counted after how
    many different tokens they come. From each count the discount is taken, and given
    to what the next shorter run expects, at last to all tokens alike.
    """

    def __init__(
        self, tokens: Sequence[int], order: int, vocabulary: int, discount: float = 0.8
    ) -> None:
        self.order, self.vocabulary, self.discount = order, vocabulary, discount
        runs = Counter(
            tuple(tokens[end - order : end]) for end in range(order, len(tokens) + 1)
        )
        self.counts = Counter(runs)
        for length in range(order - 1, 0, -1):
            runs = Counter(run[1:] for run in runs)
            runs[tuple(tokens[:length])] += 1  # it came after nothing
            self.counts.update(runs)
        self.totals: Counter[tuple[int, ...]] = Counter()
        self.kinds: Counter[tuple[int, ...]] = Counter()
        for run, count in self.counts.items():
            self.totals[run[:-1]] += count
            self.kinds[run[:-1]] += 1

    def probability(self, before: Sequence[int], token: int) -> float:
        """Say how likely a token is after those before it."""
        known = tuple(before[max(0, len(before) - self.order + 1) :])
        found = 1 / self.vocabulary
        for start in range(len(known), -1, -1):
            run = known[start:]
            total = self.totals[run]
            if not total:
                break
            kept = max(self.counts[*run, token] - self.discount, 0.0)
            found = (kept + self.discount * self.kinds[run] * found) / total
        return found

    def nats(self, tokens: Sequence[int]) -> float:
        """Add up −log p over a text."""
        known = self.order - 1
        return -sum(
            math.log(self.probability(tokens[max(0, k - known) : k], token))
            for k, token in enumerate(tokens)
        )

    def nats_between(
        self, tokens: Sequence[int], place: int, choices: Iterable[int]
    ) -> float:
        """Give −log p of one token of several, given what stands on both sides."""
        before = tokens[max(0, place - self.order + 1) : place]
        after = tokens[place + 1 : place + self.order]
        chances = {}
        for token in choices:
            text = [*before, token, *after]
            chances[token] = math.prod(
                self.probability(text[:k], text[k])
                for k in range(len(before), len(text))
            )
        return -math.log(chances[tokens[place]] / sum(chances.values()))


def tuned(
    tokens: Sequence[int],
    other: Sequence[int],
    vocabulary: int,
    orders: Sequence[int],
) -> KneserNey:
    """Count a text in the way that expects another text best."""
    found = []
    for order in orders:
        counted = KneserNey(tokens, order, vocabulary)
        for discount in DISCOUNTS:
            counted.discount = discount
            found.append((counted.nats(other), order, discount, counted))
    _, _, discount, counted = min(found, key=lambda one: one[0])
    counted.discount = discount
    return counted
