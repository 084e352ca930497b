import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.model.masks import causal_mask, padding_mask
from dragoman.special_tokens import BEGIN, END, PAD, UNKNOWN


def test_only_padding_is_hidden() -> None:
    tokens = torch.tensor([[UNKNOWN, 7, END, PAD, PAD], [BEGIN, 4, 5, 6, END]])
    mask = padding_mask(tokens)
    assert mask.shape == (2, 1, 1, 5)
    assert mask.dtype == torch.bool
    assert torch.equal(mask[:, 0, 0], tokens != PAD)


@settings(deadline=None)
@given(st.integers(1, 40))
def test_each_position_sees_itself_and_what_came_before(length: int) -> None:
    mask = causal_mask(length)
    for query in range(length):
        assert mask[query].tolist() == [key <= query for key in range(length)]


def test_masks_stay_on_the_device_of_what_they_mask() -> None:
    device = torch.device("meta")
    assert causal_mask(3, device).device == device
    assert padding_mask(torch.empty(2, 3, device=device)).device == device
