import pytest

from dragoman.errors import InspectionError
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.leaks import PAD_SIGN, batch_masks, leak_test
from dragoman.translator import Translator


def test_no_kind_of_model_sees_the_future(translator: Translator) -> None:
    seen = inspect(translator, "Good morning!", "¡Buenos días!")
    for place in range(1, len(seen.target_in)):
        tested = leak_test(seen, place)
        assert tested.leak == 0
        assert tested.differences[place:].gt(0).all()
        assert tested.before == seen.target_in.pieces[place]


def test_a_place_that_is_not_there_is_said(seen: Inspection) -> None:
    with pytest.raises(InspectionError) as raised:
        leak_test(seen, 0)
    assert str(raised.value) == (
        f"there is no token 0 to exchange: choose 1 to {len(seen.target_in) - 1}"
    )


def test_a_batch_hides_its_padding_and_the_future(toy: Translator) -> None:
    short = inspect(toy, "Hi!", "¡Hola!")
    long = inspect(toy, "Where is the train station?", "¿Dónde está la estación?")
    masks = batch_masks([short, long])
    assert masks.padding.sum(dim=1).tolist() == [len(short.source), len(long.source)]
    assert masks.sources[0][len(short.source) :].count(PAD_SIGN) == len(
        long.source
    ) - len(short.source)
    assert masks.combined[1].equal(masks.causal)
    assert not masks.combined[0][:, len(short.target_in) :].any()
    with pytest.raises(InspectionError, match="there is no batch without a sentence"):
        batch_masks([])
