from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.decoding.constraints import (
    Constraints,
    Phrase,
    Progress,
    Vocabulary,
)
from dragoman.special_tokens import END

NO_WORDS = Vocabulary()
tokens = st.integers(4, 8)
spelling = st.lists(tokens, min_size=1, max_size=3).map(tuple)
phrases = st.lists(
    st.builds(Phrase, st.lists(spelling, min_size=1, max_size=2).map(tuple)),
    min_size=1,
    max_size=3,
)


def follow(constraints: Constraints, said: list[int]) -> Progress:
    progress = Progress()
    for token in said:
        after = constraints.advance(progress, token)
        assert after is not None
        progress = after
    return progress


def contains(said: list[int], spelling: tuple[int, ...]) -> bool:
    size = len(spelling)
    return any(tuple(said[i : i + size]) == spelling for i in range(len(said)))


@settings(deadline=None)
@given(phrases, st.lists(tokens, max_size=12))
def test_what_counts_as_met_was_said(wanted: list[Phrase], said: list[int]) -> None:
    constraints = Constraints(wanted, NO_WORDS)
    progress = follow(constraints, said)
    for number, phrase in enumerate(wanted):
        if progress.met >> number & 1:
            assert any(contains(said, spelling) for spelling in phrase.spellings)
    may_end = constraints.advance(progress, END) is not None
    assert may_end == constraints.are_met(progress)


@settings(deadline=None)
@given(phrases, st.lists(tokens, max_size=6))
def test_whoever_goes_for_what_is_wanted_meets_all_in_bounded_time(
    wanted: list[Phrase], said: list[int]
) -> None:
    constraints = Constraints(wanted, NO_WORDS)
    progress = follow(constraints, said)
    for _ in range(constraints.steps_needed):
        if constraints.are_met(progress):
            break
        further = [
            constraints.advance(progress, token)
            for token in sorted(constraints.wanted(progress))
        ]
        best = max((p for p in further if p), key=lambda p: p.bank)
        assert best.bank > progress.bank
        progress = best
    assert constraints.are_met(progress)
    assert constraints.wanted(progress) == {END}


@settings(deadline=None)
@given(phrases, st.lists(tokens, max_size=12))
def test_banks_are_counted_from_nothing_to_all(
    wanted: list[Phrase], said: list[int]
) -> None:
    constraints = Constraints(wanted, NO_WORDS)
    progress = follow(constraints, said)
    assert 0 <= progress.bank < constraints.num_banks
    assert (progress.bank == constraints.num_banks - 1) == constraints.are_met(progress)


def test_a_token_that_goes_on_with_the_word_takes_a_phrase_back() -> None:
    words = Vocabulary(begins_inside={9}, ends_inside={4, 9})
    constraints = Constraints([Phrase(((4,),), whole_word=True)], words)
    assert constraints.are_met(follow(constraints, [4]))
    assert not constraints.are_met(follow(constraints, [4, 9]))
    assert constraints.are_met(follow(constraints, [4, 9, 4]))
    assert constraints.are_met(follow(constraints, [4, 5]))


def test_an_inside_spelling_needs_something_that_ends_no_word_before_it() -> None:
    words = Vocabulary(ends_inside={5})
    constraints = Constraints([Phrase(((4,),), inside=((7,),))], words)
    assert not constraints.are_met(follow(constraints, [7]))
    assert not constraints.are_met(follow(constraints, [5, 7]))
    assert constraints.are_met(follow(constraints, [6, 7]))


def test_what_comes_only_once_comes_in_order_and_apart() -> None:
    opening = Phrase(((4,),), only_once=True)
    closing = Phrase(((5,),), only_once=True, after=0, apart=True)
    blank = Vocabulary(blank={7})
    constraints = Constraints([opening, closing], blank, forbidden={8})
    assert constraints.advance(Progress(), 8) is None
    assert constraints.advance(Progress(), 5) is None
    opened = follow(constraints, [4])
    assert constraints.advance(opened, 4) is None
    assert constraints.advance(opened, 5) is None
    assert constraints.wanted(opened) == set()
    assert constraints.advance(follow(constraints, [4, 7]), 5) is None
    assert constraints.are_met(follow(constraints, [4, 7, 6, 5]))


def test_one_place_does_not_serve_two_phrases() -> None:
    twice = Constraints([Phrase(((4, 4),)), Phrase(((4, 4),))], NO_WORDS)
    assert not twice.are_met(follow(twice, [4, 4, 4]))
    assert twice.are_met(follow(twice, [4, 4, 4, 4]))
