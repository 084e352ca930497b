from dataclasses import replace

import pytest
import torch

from dragoman.config import load_preset
from dragoman.errors import TrainingError
from dragoman.training.checkpoints import Checkpoint
from dragoman.training.circumstances import Circumstances, going_on_under

NOW = Circumstances(3, 1, "0123", "4567")
TINY = load_preset("tiny")


def test_they_are_those_of_this_process() -> None:
    now = Circumstances.now("0123", TINY)
    assert (now.threads, now.processes) == (torch.get_num_threads(), 1)
    assert now.data == "0123"


def test_the_same_circumstances_have_not_changed() -> None:
    assert NOW.changes(NOW.to_dict()) == []
    assert NOW.same_batches(NOW.to_dict())
    saved = Checkpoint(9, {}, {}, {"circumstances": NOW.to_dict()})
    assert going_on_under(NOW, saved, allow_changed=False, warn=print) is saved
    assert going_on_under(NOW, None, allow_changed=False, warn=print) is None


def test_an_older_checkpoint_that_says_nothing_is_believed() -> None:
    assert NOW.changes({}) == []
    assert NOW.same_batches({})


@pytest.mark.parametrize(
    ("then", "said", "place"),
    [
        (replace(NOW, threads=5), "5 threads then, 3 now", (1, 7)),
        (replace(NOW, processes=2), "2 processes then, 1 now", (1, 7)),
        (replace(NOW, data="ffff"), "other data", (2, 0)),
        (replace(NOW, settings="ffff"), "other settings", (2, 0)),
        (replace(NOW, kernels="native"), "native kernels then, plain now", (1, 7)),
    ],
)
def test_each_change_is_said_in_one_line_and_may_be_allowed(
    then: Circumstances, said: str, place: tuple[int, int]
) -> None:
    state = {"epoch": 1, "batch": 7, "circumstances": then.to_dict()}
    saved = Checkpoint(9, {}, {}, state)
    heard: list[str] = []
    with pytest.raises(TrainingError, match="restore them, or give --allow-ch") as e:
        going_on_under(NOW, saved, allow_changed=False, warn=heard.append)
    assert f"circumstances ({said}), so its weights" in str(e.value)
    assert "\n" not in str(e.value)
    assert heard == []
    found = going_on_under(NOW, saved, allow_changed=True, warn=heard.append)
    assert found is not None
    assert (found.state["epoch"], found.state["batch"]) == place
    assert len(heard) == 1
    assert said in heard[0]


def test_only_settings_that_decide_what_is_learned_are_a_change() -> None:
    now = Circumstances.now("0123", TINY)
    watched = TINY.with_settings(
        {"training.save_every": 7, "training.threads": 9, "decoding.beam_size": 2}
    )
    assert Circumstances.now("0123", watched) == now
    assert Circumstances.now("0123", load_preset("big")).settings != now.settings
