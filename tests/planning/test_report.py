import json
from dataclasses import replace

import pytest

from dragoman.planning.estimate import Plan
from dragoman.planning.plan import plan
from dragoman.planning.report import plan_data, plan_table, size, verdict

GIB = 2**30


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan(
        pairs=4_500_000,
        preset="base",
        settings={"tokenizer.vocabulary_size": 37000},
        processes=8,
        flops=9.5e12,
        memory=16.0 * GIB,
        minutes=720,
    )


def test_the_table_tells_model_corpus_work_memory_and_verdict(made: Plan) -> None:
    table = plan_table(made)
    for told in (
        "base: as asked",
        "63,082,496 (",
        "4,500,000 pairs, as stated",
        "3.3e+18, as the paper counts",
        f"{made.model_flops:.2g}, counted in the model",
        "8 × 9.5e+12 FLOP/s, 30% of it used",
        "12:00:00",
        "  activations",
        "fits into the 16.0 GiB of a process",
    ):
        assert told in table


def test_json_has_the_same_numbers(made: Plan) -> None:
    data = json.loads(json.dumps(plan_data(made)))
    assert data["parameters"]["total"] == made.num_parameters
    assert data["flops"]["machine"] == made.machine_flops
    assert data["run"]["seconds"] == made.seconds
    assert data["fits"] is True
    parts = [held for name, held in data["memory"].items() if name != "total"]
    assert sum(parts) == pytest.approx(data["memory"]["total"])


def test_the_verdict_says_what_to_change(made: Plan) -> None:
    def judged(memory: float | None) -> str:
        machine = replace(made.machine, memory=memory)
        return verdict(replace(made, machine=machine))

    assert judged(None) == "give --memory to learn whether it fits"
    small = "does not fit into the 1.0 GiB of a process: "
    few = replace(made, machine=replace(made.machine, memory=1.0 * GIB))
    assert verdict(replace(few, parts_that_fit=4)).startswith(
        f"{small}set training.accumulate=4"
    )
    none = verdict(replace(few, parts_that_fit=None))
    assert none.startswith(f"{small}choose a smaller preset")


def test_sizes_are_read_at_a_glance() -> None:
    assert size(3.25 * GIB) == "3.2 GiB"
    assert size(100 * 2**20) == "100 MiB"
