"""A copy of a model in double precision, made when it is first needed."""

import copy
from typing import Any

import torch
from torch import nn

from dragoman.model.weights import state_of


class ExactCopy:
    """Gives the model in double precision; made anew when its weights have changed."""

    def __init__(self, model: object) -> None:
        self._model = model
        self._copy: Any = None
        self._copied: tuple[tuple[int, int], ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether the model has weights that are not in double precision already.

        One whose weights are sliced among processes cannot be copied by one of them.
        """
        if not isinstance(self._model, nn.Module):
            return False
        weights = list(self._model.parameters())
        is_sliced = any(hasattr(one, "full_tensor") for one in weights)
        return not is_sliced and any(one.dtype != torch.float64 for one in weights)

    def __call__(self) -> Any:  # noqa: ANN401 (a module of the model's own kind)
        """Give the copy, without dropout."""
        assert isinstance(self._model, nn.Module)
        state = tuple(map(state_of, self._model.parameters()))
        if self._copy is None or state != self._copied:
            self._copy = copy.deepcopy(self._model).double().eval()
            self._copied = state
        return self._copy
