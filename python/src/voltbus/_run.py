"""Runs an agent: connects it, feeds its methods, keeps its heart beating, ends it."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any

from .agent import Agent, current
from .bus import Bus
from .document import News
from .errors import Error, Invalid, NotFound, Refused, Unavailable, Unreachable
from .mark import Due, Listen, Offered, Watch
from .model import Document, Sample
from .schedule import Every

__all__ = ["Runner", "running"]

ENOUGH = 3  # failures in a row after which the agent's health is bad
PATIENCE = 10.0  # seconds that stop may take


class Runner:
    """One life of one agent."""

    def __init__(self, agent: Agent[Any], bus: Bus) -> None:
        self._agent = agent
        self._bus = bus
        self._started = False
        self._changed = asyncio.Event()
        self._failures: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._seen: dict[str, int] = {}  # documents and their versions
        self._news: asyncio.Queue[None] = asyncio.Queue(1)
        self.failures = 0
        agent.bus = bus
        for name, mark in agent.marked():
            if isinstance(mark, Offered):
                bus.offer(mark.name, getattr(agent, name), *mark.needs)
        bus.pause()

    async def start(self) -> None:
        """Load the settings, run ``start``, and begin. The bus must be open."""
        current.set(self._bus)
        self._bus.documents.watch(self._on_news)
        self._bus.on_change(self._on_change)
        await self._load()
        await self._agent.start()
        self._started = True
        self._bus.admit()
        await self._look(first=True)
        for name, mark in self._agent.marked():
            method = getattr(self._agent, name)
            if isinstance(mark, Listen):
                self._spawn(self._listen(name, mark, method), name)
            elif isinstance(mark, Due) and isinstance(mark.schedule, Every):
                self._spawn(self._repeat(name, mark.schedule, method), name)
            elif isinstance(mark, Due):
                self._spawn(self._follow(name, mark.schedule, method), name)
        self._spawn(self._watch(), "documents")
        self._spawn(self._beat(), "heartbeat")
        # The subscriptions are made by now: what is published from here on is seen.
        await asyncio.sleep(0)
        await self._bus.ready()

    async def stop(self) -> None:
        """End everything that ``start`` began, and run the agent's ``stop``."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._started:
            try:
                await asyncio.wait_for(self._agent.stop(), PATIENCE)
            except asyncio.TimeoutError:
                self._agent.log.warning("stop took too long", extra={"seconds": PATIENCE})
            except Exception:
                self._agent.log.exception("stop raised")

    def _spawn(self, job: Awaitable[None], name: str) -> None:
        self._tasks.append(asyncio.ensure_future(job))

    # -- calls

    async def _guard(self, name: str, method: Callable[..., Any], *args: Any) -> None:
        """Call a method of the agent. What it raises ends nothing."""
        try:
            result = method(*args)
            if inspect.isawaitable(result):
                await result
        except Exception as e:
            self.failures += 1
            count = self._failures[name] = self._failures.get(name, 0) + 1
            self._agent.log.error(
                "a method raised", extra={"method": name, "in_a_row": count}, exc_info=e
            )
            if count >= ENOUGH and self._agent.failing(name, f"{type(e).__name__}: {e}"):
                await self._tell()
        else:
            if self._failures.pop(name, 0) >= ENOUGH and self._agent.failing(name, None):
                await self._tell()

    async def _tell(self) -> None:
        with contextlib.suppress(Error):
            await self._agent.tell()

    # -- subscriptions

    async def _listen(self, name: str, mark: Listen, method: Callable[..., Any]) -> None:
        if mark.by is not None:
            method = _changes(method, mark.by)
        while True:
            self._changed.clear()
            try:
                async with self._stream(mark) as stream:
                    async for item in stream:
                        await self._guard(name, method, item)
                return  # the bus is closed
            except Refused as e:
                self._agent.log.error("a subscription was refused", extra={"missing": e.missing})
                if self._agent.failing(f"{name} (subscription)", str(e)):
                    await self._tell()
            await self._changed.wait()  # it may be granted
            self._agent.failing(f"{name} (subscription)", None)

    def _stream(self, mark: Listen) -> Any:
        if mark.kind == "messages":
            return self._bus.messages(*mark.patterns, prefix=mark.prefix, sender=mark.sender)
        make = self._bus.scans if mark.kind == "scans" else self._bus.samples
        return make(*mark.patterns, prefix=mark.prefix)

    # -- schedules

    async def _repeat(self, name: str, every: Every, method: Callable[..., Any]) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + (every.seconds if every.wait else 0)
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self._guard(name, method)
            late = loop.time() - due
            due += every.seconds * (1 + max(0, int(late // every.seconds)))

    async def _follow(self, name: str, schedule: Any, method: Callable[..., Any]) -> None:
        clock = self._bus.clock
        last = clock.now()
        while (due := schedule.after(last)) is not None:
            await clock.until(due)
            await self._guard(name, method)
            # What was missed meanwhile is not caught up on; a clock set back repeats nothing.
            last = max(due, clock.now())

    async def _beat(self) -> None:
        while True:
            await self._tell()
            await asyncio.sleep(self._agent.heartbeat)

    # -- documents

    async def _load(self) -> None:
        try:
            document = await self._bus.documents.get("config")
        except NotFound:
            document = None
        self._seen["config"] = document.version if document is not None else 0
        try:
            self._agent.read(document)
        except Invalid as e:
            self._agent.read(None)  # raises if the settings have no defaults
            await self._reject(e)

    async def _reject(self, e: Invalid) -> None:
        self._agent.log.error(
            "the configuration is invalid; the one before stays", extra={"err": str(e)}
        )
        self._agent.failing("config", str(e))
        with contextlib.suppress(Error):
            await self._bus.alert("config", f"the configuration is invalid: {e}")
        await self._tell()

    def _on_news(self, news: News) -> None:
        if self._news.empty():
            self._news.put_nowait(None)

    def _on_change(self) -> None:
        """Take note of a new connection or standing: documents may have changed unseen."""
        self._changed.set()
        if self._news.empty():
            self._news.put_nowait(None)

    async def _watch(self) -> None:
        while True:
            await self._news.get()
            try:
                await self._look()
            except Error as e:
                self._agent.log.warning("documents cannot be read", extra={"err": str(e)})
            except Exception:
                self._agent.log.exception("documents cannot be read")

    async def _look(self, *, first: bool = False) -> None:
        """Compare the documents with those seen last, and call what waits for changes."""
        try:
            documents = await self._bus.documents.list()
        except NotFound:  # a node that keeps no documents
            documents = []
        listed = {d.name.lower(): d for d in documents if not d.deleted}
        order = sorted(listed, key=lambda n: (n != "config", n))
        for name in order:
            version, before = listed[name].version, self._seen.get(name, 0)
            if version != before or first:
                self._seen[name] = version
                document = await self._bus.documents.get(name)
                action = "NEW" if first or not before else "UPDATE"
                await self._apply(name, action, document, reread=version != before)
        for name in [n for n in self._seen if n not in listed and self._seen[n]]:
            self._seen[name] = 0
            await self._apply(name, "DELETE", None, reread=True)

    async def _apply(self, name: str, action: str, document: Document | None, *, reread: bool) -> None:
        if name == "config" and reread and not await self._reread(document):
            return
        content = document.content if document is not None else None
        for method, mark in self._agent.marked():
            if isinstance(mark, Watch) and fnmatchcase(name, mark.pattern):
                await self._guard(method, getattr(self._agent, method), name, action, content)

    async def _reread(self, document: Document | None) -> bool:
        try:
            self._agent.read(document)
        except Invalid as e:
            await self._reject(e)
            return False
        if self._agent.failing("config", None):
            await self._bus.clear("config")
            await self._tell()
        await self._guard("changed", self._agent.changed, self._agent.settings)
        return True


def _changes(method: Callable[..., Any], by: float) -> Callable[[Sample], Any]:
    """Return a function that calls the method only with values that changed enough."""
    last: dict[str, Sample] = {}

    def take(sample: Sample) -> Any:
        before = last.get(sample.point)
        if before is not None and not _differs(sample.value, before.value, by):
            return None
        last[sample.point] = sample
        return method(sample, before)

    return take


def _differs(a: Any, b: Any, by: float) -> bool:
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b))
    if numbers and by > 0:
        return not abs(a - b) < by  # also if one of them is no number (NaN)
    return (type(a) is not type(b) and not numbers) or a != b


@contextlib.asynccontextmanager
async def running(agent: Agent[Any], bus: Bus) -> AsyncIterator[Runner]:
    """Run an agent for as long as the block lasts. The bus is opened and closed with it."""
    runner = Runner(agent, bus)
    await bus.__aenter__()
    async with _opened(runner, bus):
        yield runner


@contextlib.asynccontextmanager
async def _opened(runner: Runner, bus: Bus) -> AsyncIterator[None]:
    try:
        await runner.start()
        yield
    finally:
        try:
            await runner.stop()
        finally:
            await bus.close()


async def run(agent: Agent[Any], connect: Callable[[], Bus]) -> None:
    """Run an agent until SIGTERM, SIGINT or the node's word. Waits for a node that is away."""
    log = logging.getLogger("voltbus")
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)
    ended = asyncio.ensure_future(end.wait())
    pause = 0.5
    try:
        while not end.is_set():
            runner = Runner(agent, connect())
            try:
                await agent.bus.__aenter__()
            except (Unreachable, Unavailable) as e:
                await agent.bus.close()
                log.warning("the node cannot be reached; trying again", extra={"err": str(e)})
                await asyncio.wait({ended}, timeout=pause)
                pause = min(15.0, pause * 2)
                continue
            async with _opened(runner, agent.bus):
                asked = asyncio.ensure_future(agent.bus.stopping.wait())
                await asyncio.wait({ended, asked}, return_when=asyncio.FIRST_COMPLETED)
                asked.cancel()
                log.info("the agent ends", extra={"failures": runner.failures})
                return
    finally:
        ended.cancel()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
