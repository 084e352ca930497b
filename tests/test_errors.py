import inspect
import re

from dragoman import errors
from dragoman.errors import DragomanError, MissingExtraError


def classes() -> list[type]:
    """List what errors.py defines, from top to bottom."""
    return [
        member
        for member in vars(errors).values()
        if inspect.isclass(member) and member.__module__ == errors.__name__
    ]


def test_the_tree_that_is_drawn_is_the_tree_there_is() -> None:
    root, *branches = classes()
    lines = (errors.__doc__ or "").splitlines()
    assert root.__name__ in lines
    drawn = [found[1] for line in lines if (found := re.match(r"[├└]── (\w+) ", line))]
    assert drawn == [branch.__name__ for branch in branches]
    assert all(branch.__bases__ == (root,) for branch in branches)


def test_every_error_says_in_one_line_what_it_is() -> None:
    for member in classes():
        assert member.__doc__
        assert "\n" not in member.__doc__


def test_a_person_can_catch_them_all_at_once() -> None:
    assert classes()[0] is DragomanError
    assert DragomanError.__bases__ == (Exception,)


def test_a_missing_extra_says_what_to_install() -> None:
    assert str(MissingExtraError("drawing", "matplotlib", "inspection")) == (
        "drawing needs the package 'matplotlib', which is not installed: "
        "pip install 'dragoman[inspection]'"
    )
