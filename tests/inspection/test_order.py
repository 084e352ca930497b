import pytest
import torch

from dragoman.errors import InspectionError
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.order import (
    position_table,
    rotation,
    similarity_by_distance,
    swap_words,
)
from dragoman.model.positions import sinusoids
from dragoman.model.transformer import Transformer
from dragoman.translator import Translator


def test_sinusoids_are_carried_on_by_a_rotation(deep: Translator) -> None:
    table = position_table(deep, 40)
    torch.testing.assert_close(table.double(), sinusoids(40, 32), atol=1e-6, rtol=0)
    for offset in (1, 7, 39):
        assert rotation(table, offset).largest_error < 1e-5
    assert rotation(torch.randn(20, 8), 3).largest_error > 0.1


def test_rotary_positions_are_shown_as_the_turns_they_are(rotary: Translator) -> None:
    table, d_head = position_table(rotary, 40), rotary.config.model.head_size
    model = rotary.saved.model
    assert isinstance(model, Transformer)
    told = model.encoder.relative_positions(table, 0, 40).turn
    for part, shown in ((told.sines, table[:, 0::2]), (told.cosines, table[:, 1::2])):
        torch.testing.assert_close(part[:, : d_head // 2], shown)
    assert rotation(table, 7).largest_error < 1e-5


def test_places_near_each_other_are_alike(deep: Translator) -> None:
    by_distance = similarity_by_distance(position_table(deep, 40))
    assert by_distance[0] == pytest.approx(1)
    assert by_distance[0] > by_distance[1] > by_distance[2]


def test_an_offset_that_leads_out_is_said(deep: Translator) -> None:
    with pytest.raises(InspectionError) as raised:
        rotation(position_table(deep, 8), 8)
    assert str(raised.value) == (
        "an offset of 8 leads out of 8 positions: choose 1 to 7"
    )


def test_only_positions_tell_swapped_words_apart(seen: Inspection) -> None:
    swap = swap_words(seen, 0, 2)
    assert swap.swapped.source_text.split()[0] == "the"
    assert swap.memory_change > 1e-2
    assert swap.memory_change_without < 1e-4
    assert swap.original_without.translation == swap.swapped_without.translation
    with pytest.raises(InspectionError, match="cannot be exchanged"):
        swap_words(seen, 0, 99)
