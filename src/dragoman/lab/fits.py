"""How fast something grows: the slope of its logarithm."""

import math
from collections.abc import Sequence


def growth(x: Sequence[float], y: Sequence[float]) -> float:
    """Give the power p with which y grows like xᵖ: 1 is in step, 2 its square."""
    logs = [(math.log(a), math.log(b)) for a, b in zip(x, y, strict=True)]
    mean_x = sum(a for a, _ in logs) / len(logs)
    mean_y = sum(b for _, b in logs) / len(logs)
    over = sum((a - mean_x) * (b - mean_y) for a, b in logs)
    return over / sum((a - mean_x) ** 2 for a, _ in logs)
