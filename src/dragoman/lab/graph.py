"""Chains of matrix products in what autograd recorded of a computation.

Whatever depends on the result of another product has to wait for it: the longest chain
is what no number of processors can shorten. The shortest chain between an input and an
output is the path that a signal has to travel.
"""

from collections import deque
from typing import Any

from torch import Tensor

PRODUCTS = ("MmBackward0", "AddmmBackward0", "BmmBackward0", "MvBackward0")


def longest_chain(output: Tensor) -> int:
    """Count the products on the longest way from the output back to any leaf."""
    lengths: dict[Any, int] = {}
    stack = [output.grad_fn]
    while stack:
        node = stack[-1]
        before = [n for n, _ in node.next_functions if n is not None] if node else []
        waiting = [n for n in before if n not in lengths]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        lengths[node] = _cost(node) + max((lengths[n] for n in before), default=0)
    return lengths[output.grad_fn]


def shortest_path(output: Tensor, source: Tensor) -> int | None:
    """Count the products on the shortest way from the output to a leaf, if any is."""
    distances: dict[Any, int] = {output.grad_fn: _cost(output.grad_fn)}
    near, best = deque([output.grad_fn]), None
    while near:
        node = near.popleft()
        so_far = distances[node]
        if getattr(node, "variable", None) is source:
            best = so_far if best is None else min(best, so_far)
        for after, _ in node.next_functions if node else ():
            if after is None:
                continue
            length = so_far + _cost(after)
            if length < distances.get(after, length + 1):
                distances[after] = length
                near.append(after)
    return best


def _cost(node: Any) -> int:  # noqa: ANN401 (autograd's nodes have no public type)
    return int(node is not None and node.name() in PRODUCTS)
