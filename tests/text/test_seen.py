import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.seen import Seen

# Few distinct numbers make duplicates, and shared low bits make collisions.
fingerprints = (
    st.integers(1, 30)
    | st.integers(1, 2**64 - 1)
    | (st.integers(1, 40).map(lambda n: n << 32))
)


@given(st.lists(st.lists(fingerprints, max_size=40), max_size=12))
def test_agrees_with_a_set(batches: list[list[int]]) -> None:
    seen, known = Seen(capacity=1), set[int]()
    for batch in batches:
        expected = []
        for fingerprint in batch:
            expected.append(fingerprint not in known)
            known.add(fingerprint)
        new = seen.add_many(np.array(batch, dtype=np.uint64))
        assert new.tolist() == expected
        assert len(seen) == len(known)


def test_grows_and_stays_compact() -> None:
    seen = Seen()
    numbers = np.random.default_rng(1).integers(1, 2**63, 300_000).astype(np.uint64)
    for chunk in np.array_split(numbers, 37):
        assert seen.add_many(chunk).all()
    for chunk in np.array_split(numbers[::-1], 11):
        assert not seen.add_many(chunk).any()
    assert len(seen) == len(numbers)
    assert seen.num_bytes <= 32 * len(numbers)


def test_zero_is_remembered_too() -> None:
    seen = Seen()
    assert seen.add_many(np.array([0], dtype=np.uint64)).tolist() == [True]
    assert seen.add_many(np.array([0], dtype=np.uint64)).tolist() == [False]
    assert seen.add_many(np.array([], dtype=np.uint64)).tolist() == []
