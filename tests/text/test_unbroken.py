from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.unbroken import LONGEST_RUN, Stretch, part_by_unbroken

RUN = "x" * (LONGEST_RUN + 1)


def test_only_longer_runs_than_any_word_are_parted_off() -> None:
    assert part_by_unbroken("a " + RUN[1:]) == [Stretch("a " + RUN[1:], False)]
    assert part_by_unbroken(f"a {RUN} b") == [
        Stretch("a ", False),
        Stretch(RUN, True),
        Stretch(" b", False),
    ]
    assert part_by_unbroken("") == []


def test_pages_of_a_script_without_blanks_are_text() -> None:
    page = "我住在北京，我喜欢喝茶。" * 1000
    assert part_by_unbroken(page) == [Stretch(page, False)]


@given(st.lists(st.sampled_from(["word", " ", RUN, "。", "\t"])))
def test_together_the_stretches_are_the_text(pieces: list[str]) -> None:
    stretches = part_by_unbroken("".join(pieces))
    assert "".join(stretch.text for stretch in stretches) == "".join(pieces)
    for stretch in stretches:
        longest = max(map(len, stretch.text.replace("。", " ").split()), default=0)
        assert stretch.is_unbroken == (longest > LONGEST_RUN)
