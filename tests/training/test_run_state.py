import json

from dragoman.training.divergence import LossLevel
from dragoman.training.run_state import RunState


def test_what_goes_into_a_checkpoint_comes_out_of_it() -> None:
    level = LossLevel(running=2.5, lowest=2.25, lowest_step=7, updates_above=3)
    state = RunState(step=9, epoch=1, batch=4, seconds=1.5, level=level)
    assert RunState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
    state.best_loss, state.unvalidated, state.skipped_in_a_row = 3.25, True, 2
    assert RunState.from_dict(json.loads(json.dumps(state.to_dict()))) == state


def test_a_checkpoint_of_an_older_version_lacks_nothing_that_matters() -> None:
    old = {"step": 9, "epoch": 1, "batch": 4, "seconds": 1.5, "best_loss": None}
    state = RunState.from_dict(old | {"validations_since_best": 2, "averaged": True})
    assert (state.step, state.validations_since_best) == (9, 2)
    assert state.level == LossLevel()
