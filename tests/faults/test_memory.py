"""Too little memory: said before the first update, with advice, and nothing is left."""

from pathlib import Path
from typing import Any

ROOM = 3 * 2**30  # of addresses, which torch alone takes half of


def test_it_runs_out_before_the_first_update(
    nursery: Any, whole: Any, look: Any, tmp_path: Path
) -> None:
    folder = nursery.prepared(tmp_path / "run")
    huge = {"model.d_model": 16384, "model.d_ff": 65536}
    ended = nursery.train(folder, huge, memory=ROOM)
    assert ended.code == 1
    last = nursery.said(folder).splitlines()[-1]
    assert last.startswith("dragoman: there is not enough memory for"), last
    assert "training.batch_tokens" in last
    assert look.steps_noted(folder) == []
    assert nursery.train(folder).code == 0, "other settings may still be chosen"
    assert look.fingerprint(folder) == whole.fingerprint
