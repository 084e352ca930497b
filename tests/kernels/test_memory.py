import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.model.activations import activation_bytes
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.parametrize("preset", ["tiny", "base"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_no_masks_are_kept(preset: str, activation: str) -> None:
    settings = {
        "model.d_model": 128,
        "model.d_ff": 256,
        "model.dropout": 0.3,
        "model.feed_forward_dropout": 0.1,
        "model.activation": activation,
    }
    config = load_preset(preset).with_settings(settings).model
    model, shape = build_model(config, 50).train(), BatchShape(6, 7, 5, 30)
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if tensor.is_floating_point() and place not in own:
            kept[place] = tensor
        return tensor

    source, target = torch.randint(4, 50, (6, 7)), torch.randint(4, 50, (6, 5))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        keep(model.features(source, target))
    found = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    assert activation_bytes(config, shape, native=True) == pytest.approx(
        found, rel=0.02
    )
