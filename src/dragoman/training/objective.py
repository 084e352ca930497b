"""What training minimises, as one module: what wraps modules can wrap all of it."""

import torch
from torch import Tensor, nn

from dragoman.config import TrainingConfig
from dragoman.data.batching import Batch
from dragoman.model.network import TranslationNetwork
from dragoman.model.recurrent import RecurrentModel
from dragoman.training.loss import Loss, translation_loss
from dragoman.training.precision import computing
from dragoman.training.r_drop import r_drop_loss


class Objective(nn.Module):
    """From a batch to its loss, summed over the target tokens.

    DistributedDataParallel acts when its module's `forward` is called, and the model's
    own `forward` makes all the logits, which the loss never wants to see whole.
    """

    def __init__(self, model: TranslationNetwork, settings: TrainingConfig) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = settings.label_smoothing
        self.precision = settings.precision
        self.r_drop, self.r_drop_from = settings.r_drop, settings.r_drop_from
        self.truncate = settings.truncate

    def forward(self, batch: Batch, progress: float = 1.0) -> Loss:
        """Give the loss of a batch, at this share of the run."""
        return self.loss(self.features(batch, progress), batch, progress)

    def features(self, batch: Batch, progress: float = 1.0) -> Tensor:
        """Give the decoder's output for a batch; with R-Drop, for it twice over."""
        source, target_in = batch.source, batch.target_in
        if self._twice(progress):
            source = torch.cat((source, source))
            target_in = torch.cat((target_in, target_in))
        with computing(self.precision, source.device):
            if not self.truncate:
                return self.model.features(source, target_in).float()
            model = self.model
            assert isinstance(model, RecurrentModel), "others have nothing to cut"
            return model.features(source, target_in, self.truncate).float()

    def loss(self, features: Tensor, batch: Batch, progress: float = 1.0) -> Loss:
        """Give what a batch with these features costs."""
        weight, smoothing = self.model.output_weight, self.label_smoothing
        target, bias = batch.target_out, self.model.output_bias
        if self._twice(progress):
            return r_drop_loss(features, weight, target, smoothing, self.r_drop, bias)
        return translation_loss(features, weight, target, smoothing, bias)

    def _twice(self, progress: float) -> bool:
        return bool(self.r_drop) and progress >= self.r_drop_from


def passes(settings: TrainingConfig) -> int:
    """Say how often a batch goes through the model for one loss, at most."""
    return 2 if settings.r_drop else 1
