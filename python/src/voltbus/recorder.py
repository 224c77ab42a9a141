"""Records in the background, and repeats until the node has it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections import deque
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from .errors import Error, Invalid, Refused, Unavailable
from .model import Sample, Value

if TYPE_CHECKING:
    from .bus import Bus

__all__ = ["Recorder"]

log = logging.getLogger("voltbus.recorder")

BATCH = 5_000
_PAUSE, _LONGEST = 0.25, 10.0  # seconds between repeats, doubling


class Recorder:
    """Gathers samples and records them in batches. Use it with ``async with``.

    At most ``limit`` samples wait in memory, for ``delay`` seconds if the node is there. A batch is
    repeated until the node has acknowledged it, under one key, so that a repeat records nothing
    twice. Leaving the block waits up to ``patience`` seconds for the rest and raises
    ``Unavailable`` if something is left. Samples that the node refuses are dropped, counted in
    ``refused`` and told to ``on_refused`` of the recorder, or else to the log. ``units`` are those of
    points by their paths, and may be changed.
    """

    def __init__(
        self,
        bus: Bus,
        *,
        limit: int,
        delay: float,
        patience: float,
        units: Mapping[str, str] | None = None,
    ) -> None:
        self.recorded = 0
        self.refused = 0
        self.on_refused = _log_refused
        self.units: dict[str, str] = dict(units or {})
        self._bus = bus
        self._limit = limit
        self._delay = delay
        self._patience = patience
        self._waiting: deque[Sample] = deque()
        self._sending: list[Sample] = []
        self._more = asyncio.Event()
        self._moved = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._hurry = False

    async def __aenter__(self) -> Recorder:
        self._task = asyncio.create_task(self._run(), name="voltbus recorder")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def backlog(self) -> int:
        """How many samples are not acknowledged yet."""
        return len(self._waiting) + len(self._sending)

    def offer(self, sample: Sample) -> bool:
        """Take a sample if there is room; False if there is none."""
        if self.backlog >= self._limit:
            return False
        self._waiting.append(sample)
        self._more.set()
        return True

    async def put(self, sample: Sample) -> None:
        """Take a sample; waits for room."""
        while not self.offer(sample):
            self._moved.clear()
            await self._moved.wait()

    async def add(
        self, point: str, value: Value, *, time: datetime | None = None, quality: str = "good"
    ) -> None:
        """Take a value of a point, of now unless a time is given; waits for room."""
        await self.put(Sample(point, value, time or self._bus.clock.now(), quality))

    async def flush(self) -> None:
        """Wait until everything taken so far is acknowledged or refused."""
        self._hurry = True
        self._more.set()
        while self.backlog:
            self._moved.clear()
            await self._moved.wait()
        self._hurry = False

    async def close(self) -> None:
        """Record the rest; ``Unavailable`` tells how many samples could not be recorded in time."""
        if self._task is None:
            return
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.flush(), self._patience)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._task = None
        if self.backlog:
            noun = "sample" if self.backlog == 1 else "samples"
            raise Unavailable(
                f"{self.backlog} {noun} could not be recorded within {self._patience:g} s; "
                "the node does not acknowledge them"
            )

    async def _run(self) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            if not self._hurry and len(self._waiting) < BATCH:
                await asyncio.sleep(self._delay)
            while self._waiting:
                size = min(BATCH, len(self._waiting))
                self._sending = [self._waiting.popleft() for _ in range(size)]
                await self._deliver()
                self._sending = []
                self._moved.set()

    async def _deliver(self) -> None:
        """Repeat until the batch is acknowledged, or nothing of it is left."""
        key, pause, units = secrets.token_hex(12), _PAUSE, dict(self.units)
        while self._sending:
            try:
                self.recorded += await self._bus.record(self._sending, key=key, units=units)
                return
            except (Refused, Invalid) as e:
                self._drop(e)
                key = secrets.token_hex(12)
            except Error as e:
                log.warning("samples wait for the node", extra={"err": str(e), "n": self.backlog})
                await asyncio.sleep(pause)
                pause = min(_LONGEST, pause * 2)

    def _drop(self, e: Refused | Invalid) -> None:
        """Take out what can never be recorded; all of it if the node does not say which."""
        said = {i: m for i, m in e.problems if 0 <= i < len(self._sending)}
        problems = said or dict.fromkeys(range(len(self._sending)), str(e))
        for i, message in problems.items():
            self.refused += 1
            self.on_refused(self._sending[i], message)
        self._sending = [s for i, s in enumerate(self._sending) if i not in problems]


def _log_refused(sample: Sample, message: str) -> None:
    log.warning("a sample was not recorded", extra={"point": sample.point, "err": message})
