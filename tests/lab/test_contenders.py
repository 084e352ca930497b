import pytest

from dragoman.lab.contenders import LOOKING_BACK, PRESET, TRANSFORMER, contender


@pytest.mark.parametrize("name", PRESET)
def test_contenders_differ_in_their_network_alone(name: str) -> None:
    config = contender(name, 32, 2, dropout=0.1).config()
    assert (config.model.kind == "transformer") is (name == TRANSFORMER)
    assert (config.model.d_model, config.model.num_encoder_layers) == (32, 2)
    other = contender(LOOKING_BACK, 32, 2, dropout=0.1).config()
    for setting in ("optimizer", "learning_rate", "schedule", "average_last"):
        assert getattr(config.training, setting) == getattr(other.training, setting)


def test_one_way_is_one_way() -> None:
    assert contender(LOOKING_BACK, 32, 2).config().model.bidirectional
    assert not contender(LOOKING_BACK, 32, 2, one_way=True).config().model.bidirectional
