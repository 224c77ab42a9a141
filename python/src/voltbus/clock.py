"""What time it is, and waiting for a moment. Tests replace it by a virtual clock."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from typing import Protocol

__all__ = ["Clock", "LoopClock", "SystemClock"]

_LOOK = 30.0  # seconds after which a waiting clock looks whether somebody set the time


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the time, aware and in UTC."""

    async def until(self, moment: datetime) -> None:
        """Wait for a moment, also when the machine's clock is set meanwhile."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(timezone.utc)

    async def until(self, moment: datetime) -> None:
        while (left := (moment - self.now()).total_seconds()) > 0:
            await asyncio.sleep(min(left, _LOOK))


class LoopClock:
    """A clock that goes with the event loop, from a moment on; in ``voltbus.testing`` it is virtual."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._loop = asyncio.get_running_loop()
        self._zero = self._loop.time()

    def now(self) -> datetime:
        elapsed = self._loop.time() - self._zero
        return self._start + timedelta(microseconds=round(elapsed * 1e6))

    async def until(self, moment: datetime) -> None:
        while (left := (moment - self.now()).total_seconds()) > 0:
            await asyncio.sleep(left)
