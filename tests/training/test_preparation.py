import os
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.config import Config, TokenizerConfig, load_preset
from dragoman.data.token_store import TokenStore
from dragoman.errors import CorpusError, TrainingError
from dragoman.text.corpus import Corpus, RawPair
from dragoman.text.placeholders import placeholder_ids
from dragoman.text.tokenizer import Tokenizer, learn_tokenizer
from dragoman.training import preparation, preparation_selection, preparation_text
from dragoman.training.preparation import Prepared, prepare

WORDS = {"dog": "perro", "cat": "gato", "house": "casa", "sun": "sol", "sea": "mar"}


def sentences(count: int, seed: int) -> list[tuple[str, str]]:
    chance = random.Random(seed)
    chosen = [chance.choices(list(WORDS), k=chance.randint(2, 9)) for _ in range(count)]
    return [
        (" ".join(words), " ".join(WORDS[word] for word in words)) for words in chosen
    ]


def write(folder: Path, name: str, pairs: list[tuple[str, str]]) -> Corpus:
    folder.mkdir(exist_ok=True)
    source, target = folder / f"{name}.en", folder / f"{name}.es"
    for path, side in zip((source, target), zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{text}\n" for text in side), "utf-8")
    return Corpus(source, target)


@pytest.fixture
def config() -> Config:
    # Without placeholders, so that the pairs are stored as they were written.
    return load_preset("tiny").with_settings(
        {"tokenizer.vocabulary_size": 300, "data.placeholders": False}
    )


@pytest.fixture
def train(tmp_path: Path) -> Corpus:
    return write(tmp_path / "text", "train", sentences(150, seed=1))


@pytest.fixture
def valid(tmp_path: Path) -> Corpus:
    # A repeated pair and an extreme ratio, which training would not take.
    pairs = [*sentences(5, seed=2), ("sun", "sol"), ("sun", "sol"), ("a", "b" * 50)]
    return write(tmp_path / "text", "valid", pairs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "model" / "prepared"


def decoded(tokenizer: Tokenizer, store: TokenStore, side: str) -> list[str]:
    rows = store.source if side == "source" else store.target
    return [tokenizer.decode(rows(index).tolist()) for index in range(len(store))]


def texts(prepared: Prepared) -> list[tuple[str, str]]:
    store = prepared.store
    return list(
        zip(
            decoded(prepared.tokenizers.source, store, "source"),
            decoded(prepared.tokenizers.target, store, "target"),
            strict=True,
        )
    )


def forbid_reading(patch: pytest.MonkeyPatch) -> None:
    def refuse(corpus: Corpus) -> Iterator[RawPair]:
        raise AssertionError(f"{corpus} was read again")

    patch.setattr(preparation_selection, "read_pairs", refuse)


def test_kept_pairs_are_stored_in_order_and_whole(
    folder: Path, train: Corpus, valid: Corpus, config: Config
) -> None:
    prepared = prepare(folder, [train], valid, config)
    expected = list(dict.fromkeys(sentences(150, seed=1)))
    assert texts(prepared) == expected
    report = prepared.report
    assert report.read == 150
    assert report.kept == len(expected) == len(prepared.store)
    assert report.read == report.kept + sum(report.rejected.values())
    assert report.source_tokens == prepared.store.num_source_tokens
    assert report.source_vocabulary == prepared.tokenizers.source.vocabulary_size
    assert report.batches_per_epoch >= 1
    rejected = prepared.rejected.read_text("utf-8").splitlines()
    assert len(rejected) == 1 + sum(report.rejected.values())
    assert {path.name for path in folder.iterdir()} == {
        "prepared.json",
        "rejected.tsv",
        "tokenizer.model",
        "train",
        "valid",
        "valid.source",
        "valid.target",
    }


def test_validation_text_stays_whole_and_matches_its_store(
    folder: Path, train: Corpus, valid: Corpus, config: Config
) -> None:
    prepared = prepare(folder, [train], valid, config)
    assert prepared.valid
    for side, path in (("source", valid.source), ("target", valid.target)):
        assert path
        lines = path.read_text("utf-8").splitlines()
        assert prepared.valid_text(side) == lines
        tokenizer = prepared.tokenizers.source
        assert decoded(tokenizer, prepared.valid, side) == lines
    assert prepared.report.valid_read == prepared.report.valid_kept == 8


def test_pairs_are_dropped_from_files_whose_names_are_no_text(
    folder: Path, tmp_path: Path, config: Config
) -> None:
    name = os.fsdecode(b"caf\xe9")
    corpus = write(tmp_path / "text", name, [*sentences(50, seed=3), ("", "sol")])
    prepared = prepare(folder, [corpus], None, config)
    assert r"caf\udce9.en" in prepared.rejected.read_text("utf-8")


@pytest.mark.parametrize("side", ["source", "target"])
def test_cut_off_validation_text_is_prepared_again(
    folder: Path, train: Corpus, valid: Corpus, config: Config, side: str
) -> None:
    whole = prepare(folder, [train], valid, config).valid_text(side)
    text = folder / f"valid.{side}"
    text.write_bytes(text.read_bytes()[:20])
    assert prepare(folder, [train], valid, config).valid_text(side) == whole


def test_unusable_validation_pairs_are_left_out_on_both_sides(
    folder: Path, train: Corpus, tmp_path: Path, config: Config
) -> None:
    pairs = [("sun", "sol"), ("", "mar"), ("sea " * 300, "mar"), ("cat", "gato")]
    valid = write(tmp_path / "text", "valid", pairs)
    prepared = prepare(folder, [train], valid, config)
    assert prepared.valid_text("source") == ["sun", "cat"]
    assert prepared.valid_text("target") == ["sol", "gato"]
    assert prepared.report.valid_read == 4
    assert prepared.report.valid_kept == 2


def test_prepared_corpus_is_opened_without_reading_anything(
    folder: Path,
    train: Corpus,
    valid: Corpus,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = prepare(folder, [train], valid, config)
    forbid_reading(monkeypatch)
    again = prepare(folder, [train], valid, config)
    assert again.store.fingerprint == first.store.fingerprint
    assert again.report == first.report
    # The size of batches is not the corpus's affair; only what it costs changes.
    smaller = config.with_settings({"training.batch_tokens": 64})
    report = prepare(folder, [train], valid, smaller).report
    assert report.batches_per_epoch > first.report.batches_per_epoch
    assert report.kept == first.report.kept


def test_changed_text_is_prepared_anew(
    folder: Path, train: Corpus, tmp_path: Path, config: Config
) -> None:
    before = prepare(folder, [train], None, config)
    write(tmp_path / "text", "train", sentences(80, seed=3))
    after = prepare(folder, [train], None, config)
    assert after.store.fingerprint != before.store.fingerprint
    assert after.report.read == 80
    assert after.valid is None


def test_same_text_and_seed_give_the_same_store(
    folder: Path, train: Corpus, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = prepare(folder, [train], None, config)
    monkeypatch.setattr(preparation_text, "PORTION_BYTES", 100)
    other = prepare(folder.with_name("other"), [train], None, config)
    assert one.store.fingerprint == other.store.fingerprint


def test_weights_change_an_epoch_and_not_what_is_stored(
    folder: Path, tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = list(dict.fromkeys(sentences(90, seed=1)))
    one = write(tmp_path / "text", "one", pairs[:10])
    two = write(tmp_path / "text", "two", [*pairs[10:], pairs[0], ("", "sol")])
    plain = prepare(folder, [one, two], None, config)
    forbid_reading(monkeypatch)
    mixed = prepare(
        folder, [replace(one, weight=3.0), replace(two, weight=1.0)], None, config
    )
    assert texts(mixed) == texts(plain)
    assert mixed.store.fingerprint != plain.store.fingerprint
    total = len(pairs)
    assert [c.per_epoch for c in plain.report.corpora] == [10, total - 10]
    assert [c.per_epoch for c in mixed.report.corpora] == [
        round(total * 0.75),
        round(total * 0.25),
    ]
    first, second = mixed.report.corpora
    assert (first.read, first.kept, first.rejected) == (10, 10, {})
    assert second.rejected == {"empty side": 1, "duplicate": 1}
    assert second.read == second.kept + 2
    assert "  two.en" in mixed.report.table()
    other = prepare(
        folder, [replace(one, weight=1.0), replace(two, weight=1.0)], None, config
    )
    assert other.store.fingerprint != mixed.store.fingerprint


def test_a_corpus_of_which_nothing_is_left_has_no_share(
    folder: Path, tmp_path: Path, config: Config
) -> None:
    pairs = sentences(60, seed=1)
    one = replace(write(tmp_path / "text", "one", pairs), weight=1.0)
    two = replace(write(tmp_path / "text", "two", pairs[:5]), weight=1.0)
    with pytest.raises(CorpusError, match=r"no pair of .*two\.en is left") as raised:
        prepare(folder, [one, two], None, config)
    assert "\n" not in str(raised.value)
    assert not folder.exists()


def test_several_corpora_are_one(folder: Path, tmp_path: Path, config: Config) -> None:
    pairs = list(dict.fromkeys(sentences(90, seed=1)))
    one = write(tmp_path / "text", "one", pairs[:50])
    two = write(tmp_path / "text", "two", pairs[40:])
    prepared = prepare(folder, [one, two], None, config)
    assert texts(prepared) == pairs
    assert prepared.report.rejected == {"duplicate": 10}
    rejected = prepared.rejected.read_text("utf-8").splitlines()[1:]
    assert [row.split("\t")[:2] for row in rejected] == [
        [str(two.source), str(line)] for line in range(1, 11)
    ]


def test_vocabularies_may_be_separate(
    folder: Path, train: Corpus, config: Config
) -> None:
    apart = config.with_settings({"tokenizer.shared_vocabulary": False})
    prepared = prepare(folder, [train], None, apart)
    assert not prepared.tokenizers.shared
    assert not prepared.report.shared_vocabulary
    assert texts(prepared) == list(dict.fromkeys(sentences(150, seed=1)))


def test_vocabulary_size_is_chosen_where_none_is_given(
    folder: Path, train: Corpus
) -> None:
    prepared = prepare(folder, [train], None, load_preset("tiny"))
    assert prepared.report.source_vocabulary > 10


def test_given_tokenizers_are_used(
    folder: Path, train: Corpus, tmp_path: Path, config: Config
) -> None:
    given = prepare(folder, [train], None, config).tokenizers
    other = write(tmp_path / "text", "other", [("zebra", "cebra")])
    prepared = prepare(
        folder.with_name("other"), [other], None, config, tokenizers=given
    )
    assert prepared.tokenizers.source.serialize() == given.source.serialize()
    assert texts(prepared) == [("zebra", "cebra")]


@pytest.mark.parametrize(
    "stage",
    ["reading training", "reading validation", "learning", "encoding validation"],
)
def test_interruption_leaves_nothing_that_is_taken_for_whole(
    folder: Path, train: Corpus, valid: Corpus, config: Config, stage: str
) -> None:
    def interrupt(label: str, _done: int, _total: int | None) -> None:
        if label.startswith(stage):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(folder, [train], valid, config, progress=interrupt)
    assert list(folder.parent.iterdir()) == []
    assert prepare(folder, [train], valid, config).report.read == 150


def test_interruption_keeps_what_was_prepared_before(
    folder: Path, train: Corpus, config: Config
) -> None:
    def interrupt(_label: str, _done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    before = prepare(folder, [train], None, config)
    other = config.with_settings({"data.max_tokens": 100})
    with pytest.raises(KeyboardInterrupt):
        prepare(folder, [train], None, other, progress=interrupt)
    assert TokenStore.open(folder / "train").fingerprint == before.store.fingerprint


def test_remains_of_a_killed_preparation_do_no_harm(
    folder: Path, train: Corpus, config: Config
) -> None:
    prepare(folder, [train], None, config)
    shutil.copytree(folder, folder.with_name("prepared.tmp"))
    shutil.rmtree(folder)
    assert prepare(folder, [train], None, config).report.read == 150
    assert [path.name for path in folder.parent.iterdir()] == ["prepared"]


@pytest.mark.parametrize(
    "name",
    ["prepared.json", "tokenizer.model", "train/source.tokens", "valid/store.json"],
)
def test_damaged_corpus_is_prepared_anew(
    folder: Path, train: Corpus, valid: Corpus, config: Config, name: str
) -> None:
    before = prepare(folder, [train], valid, config)
    path = folder / name
    path.write_bytes(path.read_bytes()[:-9])
    after = prepare(folder, [train], valid, config)
    assert texts(after) == list(dict.fromkeys(sentences(150, seed=1)))
    assert after.store.fingerprint == before.store.fingerprint


def test_missing_validation_text_is_written_anew(
    folder: Path, train: Corpus, valid: Corpus, config: Config
) -> None:
    before = prepare(folder, [train], valid, config).valid_text("target")
    (folder / "valid.target").unlink()
    assert prepare(folder, [train], valid, config).valid_text("target") == before


def test_one_gigantic_line_does_not_stop_it(
    folder: Path, tmp_path: Path, config: Config
) -> None:
    pairs = sentences(60, seed=1)
    train = write(tmp_path / "text", "train", [*pairs, ("x " * 2_000_000, "y")])
    prepared = prepare(folder, [train], None, config)
    assert prepared.report.rejected["too long"] == 1
    last = prepared.rejected.read_text("utf-8").splitlines()[-1].split("\t")
    assert last[1:3] == ["61", "too long"]
    assert len(last[3]) < 1000


def test_progress_names_every_stage(
    folder: Path, train: Corpus, valid: Corpus, config: Config
) -> None:
    labels: list[str] = []
    prepare(
        folder, [train], valid, config, progress=lambda label, *_: labels.append(label)
    )
    assert list(dict.fromkeys(labels)) == [
        "reading training pairs",
        "reading validation pairs",
        "learning subwords",
        "encoding training pairs",
        "encoding validation pairs",
    ]


def test_subwords_are_learned_from_a_limited_sample(
    folder: Path, train: Corpus, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []

    def counting(
        settings: TokenizerConfig,
        sentences: Iterable[str],
        size: int,
        seed: int,
        reserved: Sequence[str],
    ) -> Tokenizer:
        taken = list(sentences)
        counts.append(len(taken))
        return learn_tokenizer(settings, taken, size, seed, reserved)

    monkeypatch.setattr(preparation, "learn_tokenizer", counting)
    monkeypatch.setattr(preparation, "SENTENCES_TO_LEARN_FROM", 100)
    prepare(folder, [train], None, config)
    assert 60 < counts[0] <= 100


@pytest.mark.parametrize("part", ["training", "validation"])
def test_nothing_usable(
    folder: Path, train: Corpus, tmp_path: Path, config: Config, part: str
) -> None:
    bad = write(tmp_path / "text", "bad", [("", "x"), ("y", "")])
    corpora = {"training": (bad, None), "validation": (train, bad)}[part]
    with pytest.raises(CorpusError, match=f"no {part} pair is left, all 2") as error:
        prepare(folder, [corpora[0]], corpora[1], config)
    assert "\n" not in str(error.value)
    assert list(folder.parent.iterdir()) == []


def test_missing_file(folder: Path, train: Corpus, config: Config) -> None:
    missing = replace(train, source=folder.parent / "missing.en")
    with pytest.raises(CorpusError, match=r"missing\.en"):
        prepare(folder, [missing], None, config)


def test_folder_that_cannot_be_written(
    tmp_path: Path, train: Corpus, config: Config
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TrainingError, match="choose another folder") as error:
        prepare(tmp_path / "file" / "prepared", [train], None, config)
    assert "\n" not in str(error.value)


COPYING = {"data.placeholders": True, "data.placeholder_share": 0.3}


def test_some_training_pairs_teach_copying_and_no_validation_pair_does(
    folder: Path, train: Corpus, valid: Corpus, config: Config
) -> None:
    prepared = prepare(folder, [train], valid, config.with_settings(COPYING))
    marks = set(placeholder_ids(prepared.tokenizers.source))
    store = prepared.store
    changed = sum(bool(marks & set(store.source(i))) for i in range(len(store)))
    assert 0.15 < changed / len(store) < 0.5
    assert len(store) == prepared.report.kept
    assert prepared.valid is not None
    assert not any(marks & set(prepared.valid.source(i)) for i in range(5))


def test_what_teaches_copying_is_the_same_again_and_in_any_portions(
    tmp_path: Path,
    train: Corpus,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copying = config.with_settings(COPYING)
    once = prepare(tmp_path / "a", [train], None, copying)
    monkeypatch.setattr(preparation_text, "PORTION_BYTES", 100)
    again = prepare(tmp_path / "b", [train], None, copying)
    assert once.store.fingerprint == again.store.fingerprint
    seed = copying.with_settings({"training.seed": 2})
    other = prepare(tmp_path / "c", [train], None, seed)
    assert other.store.fingerprint != once.store.fingerprint


def test_a_pair_that_would_get_too_long_stays_as_it_was(
    folder: Path, train: Corpus, config: Config
) -> None:
    copying = config.with_settings(COPYING)
    never = copying.with_settings({"data.placeholder_share": 0.0})
    plain = prepare(folder.with_name("plain"), [train], None, never).store
    longest = max(plain.source_lengths.max(), plain.target_lengths.max())
    tight = copying.with_settings(
        {"data.max_tokens": int(longest), "data.placeholder_share": 0.99}
    )
    assert len(prepare(folder, [train], None, tight).store) == len(plain)


def test_tokenizers_without_placeholders_are_taken_as_they_are(
    folder: Path, train: Corpus, config: Config
) -> None:
    plain = prepare(folder, [train], None, config)
    given = prepare(
        folder.with_name("given"),
        [train],
        None,
        config.with_settings(COPYING),
        tokenizers=plain.tokenizers,
    )
    assert texts(given) == texts(plain)
