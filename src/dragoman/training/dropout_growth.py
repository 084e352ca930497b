"""Dropout that grows over a run: learn quickly first, learn nothing by heart later.

A network that has seen each sentence only a few times cannot know any of them by heart;
dropout then only slows it. Where a corpus is seen many times, it is the later passes
that need it.
"""

from torch import nn

from dragoman.model.attention import ScaledDotProductAttention
from dragoman.model.dropout import Dropout


class DropoutGrowth:
    """Sets every dropout of a model by how much of the run is over."""

    def __init__(self, model: nn.Module, share: float) -> None:
        """Let the rates grow from zero over this share of the run; 0: full at once."""
        self.share = share
        self.dropouts = [
            (module, module.rate)
            for module in model.modules()
            if isinstance(module, Dropout)
        ]
        self.attentions = [
            (module, module.dropout)
            for module in model.modules()
            if isinstance(module, ScaledDotProductAttention)
        ]

    def set(self, progress: float) -> None:
        """Set the rates for an update at this share of the run."""
        if not self.share:
            return
        grown = min(1.0, progress / self.share)
        for dropout, rate in self.dropouts:
            dropout.rate = grown * rate
        for attention, rate in self.attentions:
            attention.dropout = grown * rate
