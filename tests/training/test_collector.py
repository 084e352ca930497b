import gc

from dragoman.training.collector import only_new_garbage


def test_what_was_there_is_passed_over_until_the_run_ends() -> None:
    before = gc.get_freeze_count()
    with only_new_garbage():
        assert gc.get_freeze_count() > before
    assert gc.get_freeze_count() == 0
