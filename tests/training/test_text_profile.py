from pathlib import Path

import pytest

from dragoman.config import TokenizerConfig
from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.text.tokenizer import learn_tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.text_profile import learn_profile


def test_lengths_proportions_and_scripts_are_learned(tmp_path: Path) -> None:
    settings = TokenizerConfig("bpe", 0, shared_vocabulary=True, sampling=0.0)
    tokenizer = learn_tokenizer(settings, ["Ein Satz auf Deutsch."] * 9, 400, seed=1)
    word = tokenizer.encode("Satz")[:1]
    with TokenStoreWriter(tmp_path / "store", tokenizer.vocabulary_size) as writer:
        lengths = [1 + n % 30 for n in range(9000)]
        writer.add_many(
            [word * n for n in lengths], [word * (2 * n + 1) for n in lengths]
        )
    store = TokenStore.open(tmp_path / "store")
    profile = learn_profile(store, TokenizerPair(tokenizer, tokenizer))
    assert profile.longest_source == 30
    assert profile.scripts == ("LATIN",)
    for length in (2, 10, 30):
        usual = profile.proportions_for(length)
        assert usual.short == pytest.approx(2.0)
        assert usual.least < usual.short < usual.most
