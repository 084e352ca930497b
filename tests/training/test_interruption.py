import signal
import threading
from collections.abc import Iterator

import pytest

from dragoman.training.interruption import Interrupted, Interruption

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """Handlers that note each signal, in place of those that would end the tests."""
    noted: list[int] = []
    former = {
        number: signal.signal(number, lambda number, _frame: noted.append(number))
        for number in SIGNALS
    }
    yield noted
    for number, handler in former.items():
        signal.signal(number, handler)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_a_request(heard: list[int], number: int) -> None:
    with Interruption() as interruption:
        signal.raise_signal(number)
        assert interruption.requested
        assert interruption.signal == number
    assert heard == []
    assert interruption.requested


@pytest.mark.usefixtures("heard")
def test_without_a_signal_nothing_is_requested() -> None:
    with Interruption() as interruption:
        assert not interruption.requested


def test_the_former_handlers_come_back(heard: list[int]) -> None:
    before = handlers()
    with Interruption():
        assert handlers() != before
    assert handlers() == before
    signal.raise_signal(signal.SIGTERM)
    assert heard == [signal.SIGTERM]


def test_the_former_handlers_come_back_after_an_error(heard: list[int]) -> None:
    before = handlers()
    with pytest.raises(RuntimeError, match="in the run"), Interruption():
        raise RuntimeError("in the run")
    assert handlers() == before


@pytest.mark.usefixtures("heard")
def test_ignored_signals_are_ignored_again() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interruption():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_second_signal_acts_as_if_nobody_listened(heard: list[int]) -> None:
    before = handlers()
    with Interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
        assert interruption.requested
    assert handlers() == before


@pytest.mark.usefixtures("heard")
def test_a_second_ctrl_c_is_a_keyboard_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Interruption():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_do_not_listen() -> None:
    before = handlers()
    seen: list[object] = []

    def listen() -> None:
        with Interruption() as interruption:
            seen.extend([handlers(), interruption.requested])

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert seen == [before, False]
    assert handlers() == before


@pytest.mark.usefixtures("heard")
def test_repeatable_work_is_broken_off_at_once() -> None:
    with Interruption() as interruption:
        with pytest.raises(Interrupted), interruption.at_once():
            signal.raise_signal(signal.SIGTERM)
        assert interruption.signal == signal.SIGTERM
        with pytest.raises(Interrupted), interruption.at_once():
            raise AssertionError("not begun when the end is already asked for")


@pytest.mark.usefixtures("heard")
def test_other_work_is_finished() -> None:
    with Interruption() as interruption:
        with interruption.at_once():
            pass
        signal.raise_signal(signal.SIGINT)
        assert interruption.requested
