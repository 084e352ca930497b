"""What training minimises, as one module: what wraps modules can wrap all of it."""

from torch import nn

from dragoman.config import TrainingConfig
from dragoman.data.batching import Batch
from dragoman.model.transformer import Transformer
from dragoman.training.loss import Loss, translation_loss


class Objective(nn.Module):
    """From a batch to its loss, summed over the target tokens.

    DistributedDataParallel acts when its module's `forward` is called, and the model's
    own `forward` makes all the logits, which the loss never wants to see whole.
    """

    def __init__(self, model: Transformer, settings: TrainingConfig) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = settings.label_smoothing

    def forward(self, batch: Batch) -> Loss:
        """Give the loss of a batch."""
        features = self.model.features(batch.source, batch.target_in)
        return translation_loss(
            features, self.model.output_weight, batch.target_out, self.label_smoothing
        )
