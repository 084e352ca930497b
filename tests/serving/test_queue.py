"""The queue: bounded, shared, remembered, and never working for nobody."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from tests.serving.conftest import run_async

from dragoman.serving.metrics import Metrics
from dragoman.serving.queue import TranslationQueue
from dragoman.serving.refusals import RefusalError
from dragoman.serving.work import Answer, LoadedModel, Work
from dragoman.translation import NOTHING, Translation


class Counting:
    """Stands where a model stands: answers in capitals, and notes its batches."""

    key = "counting@1"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may_go = threading.Event()
        self.may_go.set()

    def count_tokens(self, text: str) -> int:
        return len(text)

    def answer(self, works: Sequence[Work]) -> list[Answer]:
        self.may_go.wait(10)
        self.batches.append([work.text for work in works])
        if any(work.text == "bad" for work in works):
            raise ValueError("a text that nobody thought of")
        return [Answer((said(work.text),)) for work in works]


def said(text: str) -> Translation:
    return Translation(text.upper(), 0.0, 0.0, (), ()) if text else NOTHING


class Bench:
    """A queue at work."""

    def __init__(self, **options: Any) -> None:
        self.model = Counting()
        self.queue = TranslationQueue(Metrics(), **options)

    async def ask(
        self, *texts: str, lane: Any = "interactive", seconds: float = 10
    ) -> list[str]:
        model = cast("LoadedModel", self.model)
        deadline = asyncio.get_running_loop().time() + seconds
        works = [Work(self.model.key, text) for text in texts]
        found = await self.queue.answer(model, works, lane, deadline)
        return [answer.best.text for answer in found]


def run(bench: Bench, scene: Any) -> None:
    async def play() -> None:
        worker = asyncio.create_task(bench.queue.run())
        try:
            await scene()
        finally:
            worker.cancel()

    run_async(play())


def test_equal_sentences_are_worked_on_once_and_remembered() -> None:
    bench = Bench()

    async def scene() -> None:
        first, second = await asyncio.gather(
            bench.ask("a", "b", "a"), bench.ask("b", "c")
        )
        assert first == ["A", "B", "A"]
        assert second == ["B", "C"]
        assert await bench.ask("a", "c") == ["A", "C"]
        bench.queue.forget(lambda work: work.text == "a")
        assert await bench.ask("a") == ["A"]

    run(bench, scene)
    done = [text for batch in bench.model.batches for text in batch]
    assert sorted(done) == ["a", "a", "b", "c"]
    assert bench.queue.tokens == 0


def test_interactive_sentences_come_before_those_of_documents() -> None:
    bench = Bench()
    bench.model.may_go.clear()

    async def scene() -> None:
        first = asyncio.create_task(bench.ask("first"))
        await asyncio.sleep(0.05)
        document = asyncio.create_task(bench.ask("document", lane="documents"))
        await asyncio.sleep(0)
        person = asyncio.create_task(bench.ask("person"))
        await asyncio.sleep(0.05)
        bench.model.may_go.set()
        await asyncio.gather(first, document, person)

    run(bench, scene)
    assert bench.model.batches == [["first"], ["person"], ["document"]]


def test_what_does_not_fit_is_refused_whole_and_at_once() -> None:
    bench = Bench(most_tokens=10)
    bench.model.may_go.clear()

    async def scene() -> None:
        first = asyncio.create_task(bench.ask("12345678"))
        await asyncio.sleep(0.05)
        with pytest.raises(RefusalError) as busy:
            await bench.ask("a", "bcd")
        assert busy.value.status == 503
        assert busy.value.retry_after
        assert bench.queue.tokens == 8
        bench.model.may_go.set()
        assert await first == ["12345678"]
        with pytest.raises(RefusalError, match="too long"):
            await bench.ask("x" * 11)

    run(bench, scene)


def test_work_that_nobody_waits_for_is_dropped() -> None:
    bench = Bench()
    bench.model.may_go.clear()

    async def scene() -> None:
        first = asyncio.create_task(bench.ask("first"))
        await asyncio.sleep(0.05)
        left = asyncio.create_task(bench.ask("left", "shared"))
        stays = asyncio.create_task(bench.ask("shared"))
        late = asyncio.create_task(bench.ask("late", seconds=0.01))
        await asyncio.sleep(0.05)
        left.cancel()
        with pytest.raises(RefusalError, match="deadline passed"):
            await late
        bench.model.may_go.set()
        assert await first == ["FIRST"]
        assert await stays == ["SHARED"]

    run(bench, scene)
    assert bench.model.batches == [["first"], ["shared"]]
    assert bench.queue.tokens == 0


def test_a_text_that_cannot_be_translated_harms_no_other() -> None:
    bench = Bench()

    async def scene() -> None:
        good = asyncio.create_task(bench.ask("good", "fine"))
        with pytest.raises(RefusalError) as failed:
            await bench.ask("bad")
        assert failed.value.status == 500
        assert await good == ["GOOD", "FINE"]

    run(bench, scene)


def test_the_cache_has_a_bound() -> None:
    bench = Bench(cached=2)

    async def scene() -> None:
        for text in ("a", "b", "c", "a"):
            await bench.ask(text)

    run(bench, scene)
    assert [text for [text] in bench.model.batches] == ["a", "b", "c", "a"]
