import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.copying import teach_copying
from dragoman.text.placeholders import MARKS

PAIRS = [
    (f"In {year}, Tom came home.", f"En {year}, Tomás volvió a casa.")
    for year in range(1000, 1400)
]
PLAIN = [
    (f"Good morning, number {chr(97 + n % 26) * (n // 26 + 1)}!", f"¡Hola {n % 7}!")
    for n in range(400)
]


def marks(text: str) -> list[str]:
    return sorted(mark for mark in MARKS for _ in range(text.count(mark)))


@given(st.text(max_size=40), st.text(max_size=40), st.floats(0, 1), st.integers(0, 9))
def test_both_sides_have_the_same_marks_once(
    source: str, target: str, share: float, seed: int
) -> None:
    if any(mark in source + target for mark in MARKS):
        return
    changed = teach_copying(source, target, share=share, seed=seed)
    assert marks(changed[0]) == marks(changed[1])
    assert len(set(marks(changed[0]))) == len(marks(changed[0]))
    assert changed == teach_copying(source, target, share=share, seed=seed)


def test_half_of_what_both_sides_share_is_hidden() -> None:
    changed = [teach_copying(*pair, share=0.0, seed=1) for pair in PAIRS]
    hidden = [pair for pair in changed if marks(pair[0])]
    assert 0.4 < len(hidden) / len(PAIRS) < 0.6
    # Only numbers are hidden, and only those that stand on both sides.
    assert all(len(marks(source)) == 1 for source, _ in hidden)


def test_a_share_of_the_other_pairs_teaches_copying_too() -> None:
    changed = [teach_copying(*pair, share=0.2, seed=1) for pair in PLAIN]
    taught = [pair for pair in changed if marks(pair[0])]
    assert 0.1 < len(taught) / len(PLAIN) < 0.3
    assert [teach_copying(*pair, share=0.0, seed=1) for pair in PLAIN] == PLAIN


def test_all_marks_are_taught_alike() -> None:
    taught = [marks(teach_copying(*pair, share=0.0, seed=1)[0]) for pair in PAIRS]
    counts = [sum(mark in found for found in taught) for mark in MARKS]
    assert min(counts) > 0.5 * max(counts)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_seed_decides(seed: int) -> None:
    once = [teach_copying(*pair, share=0.2, seed=seed) for pair in PLAIN]
    other = [teach_copying(*pair, share=0.2, seed=seed + 7) for pair in PLAIN]
    assert once != other
    assert once[::-1] == [
        teach_copying(*pair, share=0.2, seed=seed) for pair in PLAIN[::-1]
    ]
