"""Tags go around the words that looked at what they enclosed."""

from collections.abc import Sequence

import pytest

from dragoman.config import TokenizerConfig
from dragoman.tag_alignment import place_tags
from dragoman.text.placeholders import MARKS, placeholder_ids
from dragoman.text.tokenizer import Tokenizer, learn_tokenizer

TEXT = ("Click the red button now.", "Pulsa el botón rojo ahora.") * 20


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    settings = TokenizerConfig("words", 0, shared_vocabulary=True, sampling=0.0)
    return learn_tokenizer(settings, TEXT, 400, seed=1, reserved=MARKS)


def looks(
    tokenizer: Tokenizer, target: Sequence[int], at: dict[str, int]
) -> list[list[float]]:
    """Let each word look at one place of the source, and everything else at none."""
    rows = []
    for piece in tokenizer.pieces(target):
        row = [0.0] * 10
        row[at.get(piece.removeprefix("▁"), 9)] = 1.0
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "said",
    [
        "⟦1⟧ Pulsa ⟦2⟧ el botón rojo ahora.",
        "Pulsa el botón rojo ⟦1⟧ ahora. ⟦2⟧",
        "Pulsa el ⟦1⟧ botón rojo ⟦2⟧ ahora.",
    ],
)
def test_wherever_a_pair_was_it_encloses_its_own_words(
    tokenizer: Tokenizer, said: str
) -> None:
    first, second = placeholder_ids(tokenizer)[:2]
    source = tokenizer.encode("Click the ⟦1⟧ red button ⟦2⟧ now.")
    target = tokenizer.encode(said)
    at = {"Pulsa": 0, "el": 1, "botón": 4, "rojo": 3, "ahora.": 6}
    alignment = looks(tokenizer, target, at)
    placed = place_tags(source, target, alignment, [(first, second)], tokenizer)
    assert tokenizer.decode(placed) == "Pulsa el ⟦1⟧ botón rojo ⟦2⟧ ahora."


def test_without_an_alignment_tags_stay_where_they_are(tokenizer: Tokenizer) -> None:
    first, second = placeholder_ids(tokenizer)[:2]
    target = tokenizer.encode("⟦1⟧ Pulsa ⟦2⟧ el botón.")
    assert place_tags(target, target, [], [(first, second)], tokenizer) == target
