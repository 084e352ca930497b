from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.decoding.narrowed import Narrowed
from dragoman.decoding.shortlist import Shortlist
from dragoman.errors import ModelFolderError
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD

Pad = Callable[..., Tensor]
SENTENCES = [[4, 5, 6], [7], [5, 9, 8, 4]]


@pytest.fixture
def shortlist(transformer: TranslationNetwork) -> Shortlist:
    """Each token may become itself or the next two; one more is always allowed."""
    vocabulary = len(transformer.output_weight)
    tokens = torch.arange(vocabulary)
    table = (tokens[:, None] + torch.arange(3)) % vocabulary
    table[END] = table[PAD] = PAD
    return Shortlist.make(table, torch.tensor([vocabulary - 1]))


def test_a_sentence_may_say_what_its_tokens_call_for(
    shortlist: Shortlist, pad: Pad, transformer: TranslationNetwork
) -> None:
    last = len(transformer.output_weight) - 1
    tokens = shortlist.tokens(pad([[4, 5]]))
    assert tokens.tolist() == sorted({0, 1, 2, 3, 4, 5, 6, 7, last})


def test_padding_and_company_allow_nothing_more(shortlist: Shortlist, pad: Pad) -> None:
    source = pad(SENTENCES, extra=2)
    tokens = shortlist.tokens(source)
    allowed = shortlist.allowed(source, tokens)
    for row, sentence in zip(allowed, SENTENCES, strict=True):
        alone = shortlist.tokens(pad([sentence]))
        assert tokens[row].tolist() == alone.tolist()


def test_special_tokens_keep_their_ids(shortlist: Shortlist, pad: Pad) -> None:
    tokens = shortlist.tokens(pad(SENTENCES))
    assert tokens[:4].tolist() == [0, 1, 2, 3]


def test_logits_are_the_models_own_where_they_are_allowed(
    trained: TranslationNetwork, shortlist: Shortlist, pad: Pad
) -> None:
    source = pad(SENTENCES)
    tokens = shortlist.tokens(source)
    narrowed = Narrowed(trained, shortlist, tokens)
    target_in = torch.tensor([[BEGIN, 4], [BEGIN, 5], [BEGIN, 6]])
    logits = narrowed.forward(source, target_in)
    expected = trained(source, tokens[target_in])[:, :, tokens]
    allowed = shortlist.allowed(source, tokens)[:, None].expand_as(logits)
    torch.testing.assert_close(logits[allowed], expected[allowed])
    assert logits[~allowed].isneginf().all()


def test_steps_equal_the_full_forward(
    trained: TranslationNetwork, shortlist: Shortlist, pad: Pad
) -> None:
    source = pad(SENTENCES)
    narrowed = Narrowed(trained, shortlist, shortlist.tokens(source))
    target_in = torch.tensor([[BEGIN, 4, 6], [BEGIN, 5, 4], [BEGIN, 6, 5]])
    full = narrowed.forward(source, target_in)
    state = narrowed.start(narrowed.encode(source))
    order = torch.tensor([2, 0, 1])
    for place in range(3):
        logits, state = narrowed.step(target_in[:, place], state)
        torch.testing.assert_close(logits, full[:, place])
        if place == 1:
            state, target_in, full = state.reorder(order), target_in[order], full[order]


def test_it_is_read_as_it_was_written(shortlist: Shortlist, tmp_path: Path) -> None:
    shortlist.write(tmp_path / "list")
    again = Shortlist.read(tmp_path / "list")
    assert torch.equal(again.candidates, shortlist.candidates)
    assert torch.equal(again.always, shortlist.always)


def test_what_is_no_shortlist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"nothing")
    with pytest.raises(ModelFolderError, match=r"is not a shortlist .* makes it anew"):
        Shortlist.read(tmp_path / "list")
