import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.errors import CorpusError

PAIRS = [([5, 6, 7], [8]), ([9], [10, 11]), ([12, 4], [])]


def write(
    folder: Path, pairs: list[tuple[list[int], list[int]]], vocabulary: int = 100
) -> TokenStore:
    with TokenStoreWriter(folder, vocabulary) as writer:
        writer.add_many(
            [source for source, _ in pairs], [target for _, target in pairs]
        )
    return TokenStore.open(folder)


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return write(tmp_path / "store", PAIRS)


row = st.lists(st.integers(4, 70_000), max_size=5)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(row, row), max_size=8),
    st.integers(1, 4),
    st.sampled_from([70_001, 2**20]),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[list[int], list[int]]],
    portion: int,
    vocabulary: int,
) -> None:
    folder = tmp_path_factory.mktemp("any") / "store"
    with TokenStoreWriter(folder, vocabulary) as writer:
        for start in range(0, len(pairs), portion):
            part = pairs[start : start + portion]
            writer.add_many(
                [source for source, _ in part], [target for _, target in part]
            )
    store = TokenStore.open(folder)
    read = [
        (store.source(i).tolist(), store.target(i).tolist()) for i in range(len(store))
    ]
    assert read == pairs
    assert store.source_lengths.tolist() == [len(source) for source, _ in pairs]
    assert store.target_lengths.tolist() == [len(target) for _, target in pairs]
    assert store.num_source_tokens == sum(store.source_lengths.tolist())
    assert store.num_target_tokens == sum(store.target_lengths.tolist())


def test_many_pairs_are_gathered_in_the_order_asked_for(store: TokenStore) -> None:
    rows = store.sources(np.array([2, 0, 2]))
    assert rows.tokens.tolist() == [12, 4, 5, 6, 7, 12, 4]
    assert rows.lengths.tolist() == [2, 3, 2]


@pytest.mark.parametrize(("vocabulary", "size"), [(2**16, 2), (2**16 + 1, 4)])
def test_tokens_take_as_few_bytes_as_the_vocabulary_allows(
    tmp_path: Path, vocabulary: int, size: int
) -> None:
    top = vocabulary - 1
    store = write(tmp_path / "store", [([top], [top])], vocabulary)
    assert store.source(0).itemsize == size
    assert store.source(0).tolist() == [top]


def test_fingerprint_depends_on_contents_and_not_on_portions(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole", PAIRS)
    with TokenStoreWriter(tmp_path / "portions", 100) as writer:
        for source, target in PAIRS:
            writer.add_many([source], [target])
    portions = TokenStore.open(tmp_path / "portions")
    assert portions.fingerprint == whole.fingerprint
    swapped = write(
        tmp_path / "swapped", [(target, source) for source, target in PAIRS]
    )
    joined = write(tmp_path / "joined", [([5, 6, 7, 9], [8, 10]), ([12, 4], [11])])
    assert len({whole.fingerprint, swapped.fingerprint, joined.fingerprint}) == 3


def test_half_written_store_is_not_taken_for_whole(tmp_path: Path) -> None:
    writer = TokenStoreWriter(tmp_path / "store", 100)
    writer.add_many([[5]], [[6]])
    with pytest.raises(CorpusError, match="no prepared corpus"):
        TokenStore.open(tmp_path / "store")
    writer.close()
    assert len(TokenStore.open(tmp_path / "store")) == 1


def test_error_while_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupted() -> None:
        with TokenStoreWriter(tmp_path / "store", 100) as writer:
            writer.add_many([[5]], [[6]])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_new_store_replaces_an_old_one(tmp_path: Path) -> None:
    write(tmp_path / "store", PAIRS)
    assert len(write(tmp_path / "store", PAIRS[:1])) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def one_line(error: pytest.ExceptionInfo[CorpusError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_missing_store(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="prepare it first") as error:
        TokenStore.open(tmp_path / "nothing")
    assert str(tmp_path / "nothing") in one_line(error)


@pytest.mark.parametrize(
    "name", ["source.tokens", "target.tokens", "source.lengths", "target.starts"]
)
def test_truncated_or_missing_file(store: TokenStore, name: str) -> None:
    path = store.folder / name
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(CorpusError, match=f"{name} has .* instead of") as error:
        TokenStore.open(store.folder)
    assert "delete the folder" in one_line(error)
    path.unlink()
    with pytest.raises(CorpusError, match=f"{name} is missing"):
        TokenStore.open(store.folder)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b"3", b'{"format": 1}', b'{"unknown": 1}'],
)
def test_unreadable_description(store: TokenStore, content: bytes) -> None:
    (store.folder / "store.json").write_bytes(content)
    with pytest.raises(CorpusError, match="is damaged") as error:
        TokenStore.open(store.folder)
    assert "delete the folder" in one_line(error)


@pytest.mark.parametrize("value", [-1, 2.5, "3", None, True])
def test_senseless_numbers(store: TokenStore, value: object) -> None:
    path = store.folder / "store.json"
    description = json.loads(path.read_text())
    path.write_text(json.dumps(description | {"pairs": value}))
    with pytest.raises(CorpusError, match="is damaged"):
        TokenStore.open(store.folder)


def test_store_of_another_format(store: TokenStore) -> None:
    path = store.folder / "store.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))
    with pytest.raises(CorpusError, match=r"has format 99.*reads format 1") as error:
        TokenStore.open(store.folder)
    assert "prepare anew" in one_line(error)


def test_altered_tokens_are_noticed_when_read(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.data.token_store.BYTES_TO_CHECK", 1)
    path = store.folder / "source.tokens"
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(CorpusError, match="unknown tokens"):
        TokenStore.open(store.folder).source(0)


def test_a_lost_bit_in_any_file_is_noticed(tmp_path: Path, store: TokenStore) -> None:
    for path in sorted((tmp_path / "store").iterdir()):
        content = path.read_bytes()
        if path.suffix == ".json" or not content:
            continue
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        with pytest.raises(CorpusError, match="not what was written"):
            TokenStore.open(tmp_path / "store")
        path.write_bytes(content)
    assert len(TokenStore.open(tmp_path / "store")) == len(store)


def test_a_large_store_is_opened_without_reading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "store", PAIRS)
    path = tmp_path / "store" / "source.tokens"
    path.write_bytes(b"\x01" + path.read_bytes()[1:])
    monkeypatch.setattr("dragoman.data.token_store.BYTES_TO_CHECK", 1)
    assert len(TokenStore.open(tmp_path / "store")) == len(PAIRS)
