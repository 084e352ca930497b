"""The queue between requests and models: bounded in tokens, with two lanes.

A batch leaves as soon as the worker is free, interactive sentences before those of
documents, and is of like lengths. A sentence that is being worked on already is not
worked on twice, and one that was is remembered. What nobody waits for any more, or
whose deadline has passed, is dropped.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from dragoman.errors import DragomanError
from dragoman.serving.metrics import Metrics
from dragoman.serving.refusals import RefusalError, too_busy, too_late
from dragoman.serving.work import Answer, LoadedModel, Work

Lane = Literal["interactive", "documents"]
LANES: tuple[Lane, ...] = ("interactive", "documents")
BATCH_TOKENS = 2048  # source tokens that leave together
TOKENS_A_SECOND = 2000  # the least that a server does; only for Retry-After

log = logging.getLogger("dragoman.serving")


@dataclass(eq=False)
class _Job:
    """A work in the queue, and who waits for it."""

    work: Work
    model: LoadedModel
    tokens: int
    deadline: float
    answer: "asyncio.Future[Answer]"
    waiting: int = 0


@dataclass
class TranslationQueue:
    """Takes works from the event loop to one thread that translates."""

    metrics: Metrics
    most_tokens: int = 100_000
    cached: int = 10_000
    _lanes: dict[Lane, deque[_Job]] = field(
        default_factory=lambda: {lane: deque() for lane in LANES}
    )
    _in_flight: dict[Work, _Job] = field(default_factory=dict)
    _cache: "OrderedDict[Work, Answer]" = field(default_factory=OrderedDict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _tokens: int = 0
    _worker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "translating")
    )

    @property
    def tokens(self) -> int:
        """How many tokens wait or are being translated."""
        return self._tokens

    async def answer(
        self, model: LoadedModel, works: Sequence[Work], lane: Lane, deadline: float
    ) -> list[Answer]:
        """Give the answers to works; all are taken in at once, or none."""
        answers: dict[Work, Answer] = {}
        jobs: dict[Work, _Job] = {}
        fresh: dict[Work, int] = {}
        for work in dict.fromkeys(works):
            if work in self._cache:
                self._cache.move_to_end(work)
                answers[work] = self._cache[work]
                self.metrics.count("cache_hits")
            elif work in self._in_flight:
                jobs[work] = self._in_flight[work]
                self.metrics.count("shared")
            else:
                fresh[work] = model.count_tokens(work.text)
        needed = sum(fresh.values())
        if needed + self._tokens > self.most_tokens and (self._tokens or needed > 0):
            if needed > self.most_tokens:
                raise RefusalError(413, "The text is too long for this server")
            raise too_busy(1 + self._tokens // TOKENS_A_SECOND)
        loop = asyncio.get_running_loop()
        for work, tokens in fresh.items():
            job = _Job(work, model, tokens, deadline, loop.create_future())
            jobs[work] = self._in_flight[work] = job
            self._lanes[lane].append(job)
            self._tokens += tokens
        self._wake.set()
        answers |= await self._gather(jobs, deadline)
        return [answers[work] for work in works]

    async def _gather(
        self, jobs: dict[Work, _Job], deadline: float
    ) -> dict[Work, Answer]:
        """Wait for jobs; whoever stops waiting is counted out."""
        for job in jobs.values():
            job.waiting += 1
            job.deadline = max(job.deadline, deadline)
        try:
            async with asyncio.timeout_at(deadline):
                return {
                    work: await asyncio.shield(job.answer) for work, job in jobs.items()
                }
        except TimeoutError:
            raise too_late() from None
        finally:
            for job in jobs.values():
                job.waiting -= 1

    async def run(self) -> None:
        """Translate until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            batch = self._next_batch(loop.time())
            if not batch:
                self._wake.clear()
                continue
            works = [job.work for job in batch]
            self.metrics.observe_batch(len(works))
            try:
                answers = await loop.run_in_executor(
                    self._worker, _each, batch[0].model, works
                )
            except asyncio.CancelledError:
                for job in batch:
                    job.answer.cancel()
                raise
            for job, answer in zip(batch, answers, strict=True):
                self._settle(job, answer)

    def _next_batch(self, now: float) -> list[_Job]:
        """Take what leaves next: one model, interactive first, of like lengths."""
        for lane in LANES:
            waiting = self._lanes[lane]
            live = []
            for job in waiting:
                if job.waiting <= 0 or job.deadline <= now:
                    self._settle(job, too_late())
                    self.metrics.count("dropped")
                else:
                    live.append(job)
            if not live:
                waiting.clear()
                continue
            first = live[0]
            alike = [job for job in live if job.model.key == first.model.key]
            batch: list[_Job] = []
            tokens = 0
            for job in alike:
                if batch and tokens + job.tokens > BATCH_TOKENS:
                    break
                batch.append(job)
                tokens += job.tokens
            taken = set(map(id, batch))
            self._lanes[lane] = deque(job for job in live if id(job) not in taken)
            return sorted(batch, key=lambda job: -job.tokens)
        return []

    def _settle(self, job: _Job, answer: Answer | Exception) -> None:
        self._tokens -= job.tokens
        self._in_flight.pop(job.work, None)
        if isinstance(answer, Answer):
            self._cache[job.work] = answer
            while len(self._cache) > self.cached:
                self._cache.popitem(last=False)
        if job.answer.done():
            return
        if isinstance(answer, Answer):
            job.answer.set_result(answer)
        else:
            job.answer.set_exception(answer)
            job.answer.exception()  # nobody may be left to ask for it

    def forget(self, is_gone: Callable[[Work], bool]) -> None:
        """Let go of remembered answers, such as those of a model that was replaced."""
        for work in [work for work in self._cache if is_gone(work)]:
            del self._cache[work]


def _each(model: LoadedModel, works: Sequence[Work]) -> list[Answer | Exception]:
    """Do works together; where that fails, one by one, so that one harms no other."""
    try:
        return [*model.answer(works)]
    except Exception as error:
        if len(works) == 1:
            if not isinstance(error, DragomanError):
                log.exception("unforeseen while translating")
            return [RefusalError(500, "This text could not be translated")]
        return [answer for work in works for answer in _each(model, [work])]
