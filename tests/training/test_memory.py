import subprocess
import sys
from collections.abc import Iterable

import pytest
import torch
from torch import Tensor

from dragoman.config import Config, load_preset
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape
from dragoman.model.weights import count_parameters
from dragoman.training.loss import translation_loss
from dragoman.training.memory import Memory, training_memory, weightless
from dragoman.training.optimizer import Optimizer

SHAPE = BatchShape(rows=3, source_length=7, target_length=5, target_tokens=15)


def small(**settings: object) -> Config:
    shape = {"model.d_model": 16, "model.d_ff": 24, "model.num_heads": 2}
    changed = {f"{k.replace('__', '.')}": v for k, v in settings.items()}
    return load_preset("base").with_settings({**shape, **changed})


def held(tensors: Iterable[Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
@pytest.mark.parametrize("shared", [True, False])
def test_weights_gradients_and_moments_are_counted_to_the_byte(
    optimizer: str, shared: bool
) -> None:
    config = small(training__optimizer=optimizer, tokenizer__shared_vocabulary=shared)
    model = build_model(config.model, 50, None if shared else 50)
    moments = Optimizer(model, config.training)
    source, target = torch.randint(4, 50, (3, 7)), torch.randint(4, 50, (3, 5))
    features = model.features(source, target)
    translation_loss(features, model.output_weight, target, 0.1).smoothed.backward()
    memory = training_memory(weightless(config, 50), config, SHAPE)
    assert memory.weights == held(model.parameters())
    assert memory.gradients == held(
        p.grad for p in model.parameters() if p.grad is not None
    )
    assert memory.optimizer == held(moments.state().values())
    assert memory.batch == held((source, target, target))


def test_a_weightless_model_has_every_parameter_and_no_number() -> None:
    config = load_preset("big")
    model = weightless(config, 37000)
    assert all(parameter.is_meta for parameter in model.parameters())
    tiny = load_preset("tiny")
    assert count_parameters(weightless(tiny, 99)) == count_parameters(
        build_model(tiny.model, 99)
    )


def test_the_parts_make_the_whole() -> None:
    assert Memory(1, 2, 4, 8, 16, 32).total == 63


def test_the_logits_are_never_held_whole() -> None:
    config = small()
    model = weightless(config, 50_000)
    few, many = (
        training_memory(model, config, BatchShape(rows, 10, 10, 10 * rows)).loss
        for rows in (100, 1000)
    )
    assert many - few == 4 * 2 * 9000 * 16  # only rows and their gradients grow


def test_memory_is_counted_without_loading_a_compiler() -> None:
    program = (
        "import sys\n"
        "from dragoman.config import load_preset\n"
        "from dragoman.model.flops import BatchShape\n"
        "from dragoman.training.memory import training_memory, weightless\n"
        "for config in map(load_preset, ('big', 'fast')):\n"
        "    model = weightless(config, 40_000)\n"
        "    assert all(p.is_meta for p in model.parameters())\n"
        "    training_memory(model, config, BatchShape(1, 1, 1, 1))\n"
        "slow = {'torch._dynamo', 'sympy'}\n"
        "sys.exit(len(slow & sys.modules.keys()))\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
