import pytest

from dragoman.kernels.choice import narrow_products
from dragoman.model.weights import count_parameters
from dragoman.model_folder import SavedModel
from dragoman.training import check
from dragoman.training.batch_source import BatchSource
from dragoman.training.check import check_table, expected_memory, usual_batch
from dragoman.training.objective import Objective
from dragoman.training.preparation import Prepared


def test_the_table_says_what_training_will_cost(
    prepared: Prepared, saved: SavedModel
) -> None:
    source = BatchSource(prepared.store, prepared.tokenizers, saved.config)
    objective = Objective(saved.model, saved.config.training)
    table = check_table(prepared, objective, source, saved.config, 0.01)
    assert f"{count_parameters(saved.model):,} parameters" in table
    assert "estimated memory" in table
    assert "estimated time per epoch" in table
    assert "bfloat16" not in table


def test_the_table_says_where_products_are_narrow(
    prepared: Prepared, saved: SavedModel
) -> None:
    source = BatchSource(prepared.store, prepared.tokenizers, saved.config)
    objective = Objective(saved.model, saved.config.training)
    with narrow_products():
        table = check_table(prepared, objective, source, saved.config, 0.01)
    assert "products" in table
    assert "in bfloat16" in table


def test_a_larger_batch_is_expected_to_take_more_memory(
    prepared: Prepared, saved: SavedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "peak_memory", lambda: 0)  # what other tests have held
    report = prepared.report
    tokens = 200_000
    shape = usual_batch(report, tokens)
    assert shape.target_places == shape.target_tokens
    assert abs(shape.target_places - tokens) < 1
    larger = saved.config.with_settings({"training.batch_tokens": tokens})
    parts = larger.with_settings({"training.accumulate": 8})
    expected = []
    for config in (larger, parts):
        source = BatchSource(prepared.store, prepared.tokenizers, config)
        expected.append(expected_memory(report, config, source))
    assert expected[0] > expected[1] > 0
    monkeypatch.setattr(check, "peak_memory", lambda: 2**40)
    assert expected_memory(report, parts, source) == 2**40
