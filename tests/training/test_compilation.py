import pytest
import torch

from dragoman.config import Config, load_preset
from dragoman.data.batching import Batch
from dragoman.model.build import build_transformer
from dragoman.model.transformer import Transformer
from dragoman.model.weights import get_weights
from dragoman.training.compilation import compile_layers, uncompiled
from dragoman.training.objective import Objective

# What torch.compile loads uses parts of torch that it warns against itself.
# It also looks at the gradient of tensors that have none, and is warned of that.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:The .grad attribute of a Tensor:UserWarning"
)


def config(dropout: float) -> Config:
    return load_preset("tiny").with_settings(
        {
            "model.d_model": 16,
            "model.d_ff": 32,
            "model.num_heads": 2,
            "model.num_encoder_layers": 1,
            "model.num_decoder_layers": 1,
            "model.dropout": dropout,
        }
    )


def model(dropout: float) -> Transformer:
    torch.manual_seed(1)
    return build_transformer(config(dropout).model, 50)


def batch(rows: int, length: int) -> Batch:
    torch.manual_seed(rows)
    tokens = torch.randint(4, 50, (3, rows, length))
    return Batch(tokens[0], tokens[1], tokens[2])


def test_names_and_weights_stay_and_as_written_it_is_the_same() -> None:
    plain, compiled = model(0.0), model(0.0)
    compile_layers(compiled)
    weights = get_weights(plain)
    assert list(compiled.state_dict()) == list(plain.state_dict())
    for name, weight in get_weights(compiled).items():
        assert torch.equal(weight, weights[name])
    one = batch(3, 5)
    with uncompiled():
        assert torch.equal(
            compiled(one.source, one.target_in), plain(one.source, one.target_in)
        )


def gradients(of: Transformer, dropout: float) -> dict[str, torch.Tensor]:
    objective = Objective(of, config(dropout).training)
    torch.manual_seed(3)
    for rows, length in ((3, 5), (4, 7)):
        objective(batch(rows, length)).smoothed.backward()
    found = {n: p.grad for n, p in of.named_parameters() if p.grad is not None}
    of.zero_grad()
    return found


@pytest.mark.faults
def test_compiled_layers_learn_the_same() -> None:
    compiled = model(0.0)
    plain = gradients(model(0.0), 0.0)
    compile_layers(compiled)
    for name, gradient in gradients(compiled, 0.0).items():
        torch.testing.assert_close(gradient, plain[name], rtol=1e-4, atol=1e-4)


@pytest.mark.faults
def test_compiled_dropout_is_repeated_by_the_same_seed() -> None:
    compiled = model(0.3)
    compile_layers(compiled)
    first, second = gradients(compiled, 0.3), gradients(compiled, 0.3)
    assert all(torch.equal(first[name], second[name]) for name in first)
    plain = gradients(model(0.0), 0.0)
    assert not all(torch.allclose(first[name], plain[name]) for name in first)
