import pytest
import torch

from dragoman.errors import ConfigError
from dragoman.model.device import choose_device


def test_auto_is_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda", 1)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="torch finds no GPU here: choose cpu"):
        choose_device("cuda")


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ConfigError, match="no device 'tpu': choose auto, cpu, cuda"):
        choose_device("tpu")
