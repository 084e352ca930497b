import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.model.build import build_transformer
from dragoman.model.decoder_cache import FIRST_CAPACITY, Buffer, DecoderCache
from dragoman.model.row_groups import RowGroups
from dragoman.model.transformer import Transformer
from dragoman.special_tokens import BEGIN, END, PAD


def small_model() -> Transformer:
    torch.manual_seed(2)
    shape = {"model.d_model": 8, "model.d_ff": 8, "model.num_heads": 2}
    layers = {"model.num_encoder_layers": 1, "model.num_decoder_layers": 2}
    config = load_preset("base").with_settings(shape | layers)
    return build_transformer(config.model, 12).double().eval()


def test_any_way_through_rows_and_sentences_gives_what_a_fresh_reading_gives() -> None:
    model = small_model()
    source = torch.tensor(
        [[5, 6, 7, END], [4, END, PAD, PAD], [9, 8, END, PAD], [6, 6, 4, END]]
    )
    sentences, said = torch.arange(4), torch.full((4, 1), BEGIN)
    state = model.start(model.encode(source))
    for step in range(24):
        logits, state = model.step(said[:, -1], state)
        torch.testing.assert_close(logits, model(source[sentences], said)[:, -1])
        num_rows = (3, 7, 9, 5, 2, 4)[step // 4]
        rows = torch.randint(len(said), (num_rows,))
        sentences, state = sentences[rows], state.reorder(rows)
        newest = torch.randint(4, 12, (num_rows, 1))
        said = torch.cat([said[rows], newest], dim=1)
    assert state.target.buffer.places.shape[3] > FIRST_CAPACITY
    assert state.groups.num_groups < 4  # sentences without rows were let go


def test_states_that_part_do_not_disturb_each_other() -> None:
    model, source = small_model(), torch.tensor([[5, 6, END]])

    def tokens(*numbers: int) -> Tensor:
        return torch.tensor(numbers)

    begun = model.start(model.encode(source))
    _, one = model.step(tokens(BEGIN), begun)
    _, left = model.step(tokens(4), one)
    _, right = model.step(tokens(5), one)
    for state, token in ((left, 4), (right, 5)):
        logits, _ = model.step(tokens(7), state)
        expected = model(source, torch.tensor([[BEGIN, token, 7]]))
        torch.testing.assert_close(logits[0], expected[0, -1])


def test_a_row_sees_its_own_past_only() -> None:
    cache = DecoderCache.empty(1, 2, 1, torch.zeros(1))
    cache = cache.open(RowGroups.single(2, torch.device("cpu")))
    rows = torch.tensor([0, 0, 1])
    groups = RowGroups.of(rows, 2)
    cache = cache.select_rows(rows).open(groups)
    cache = cache.select_rows(torch.tensor([1, 0, 2])).open(groups)
    assert cache.visible.int().tolist() == [
        [1, 0, 1, 1, 0],
        [1, 1, 0, 0, 1],
        [1, 1, 0, 1, 0],
    ]
    assert cache.length == 3


def test_a_buffer_is_written_in_place_until_it_is_full_or_taken() -> None:
    buffer = Buffer(torch.ones(2, 1, 1, 4, 3), 2)
    assert buffer.ready(2, 2) is buffer
    assert buffer.ready(1, 1) is not buffer
    longer = buffer.ready(2, 7)
    assert longer.places.shape == (2, 1, 1, 16, 3)
    assert longer.places[:, :, :, :2].eq(1).all()
    assert longer.places[:, :, :, 2:].eq(0).all()
