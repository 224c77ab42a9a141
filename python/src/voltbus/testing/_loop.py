"""An event loop whose time passes only when nothing is left to do."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

RESOLUTION = 1e-9  # seconds; timers closer together are due at once


class _Selector(selectors.SelectSelector):
    """Looks for what is ready, and moves the time on where another one would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.outside = 0  # jobs in threads, which take real time
        self.limit = math.inf  # how far the time may go by itself
        self.next = math.inf  # when the first timer behind the limit is due
        self.idle: Callable[[], None] | None = None  # called when nothing is left to do up to the limit

    def select(self, timeout: float | None = None) -> Any:
        if self.outside or (timeout is None and self.idle is None):
            # Only a thread or a socket can go on: that takes real time.
            return super().select(timeout if timeout is None else min(timeout, 0.01))
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        due = math.inf if timeout is None else self.time + timeout
        if due <= self.limit + RESOLUTION:
            self.time = due
        elif self.idle is not None:
            self.time, self.next = max(self.time, self.limit), due
            self.idle()
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Waits for nothing: a sleep of a day ends at once, after all that is due before it.

    Work in threads (``asyncio.to_thread``) takes real time, in which the virtual time stands still.
    """

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        # Timers closer together than this are due at once; the default is the real clock's.
        self._clock_resolution = RESOLUTION

    def advance(self, to: float) -> float:
        """Run all that is due up to a time, and return when the next timer is due; ``inf`` if none is.

        The time is ``to`` afterwards. The loop does not go on by itself between two calls.
        """
        self._virtual.limit, self._virtual.idle = to, self.stop
        self._virtual.next = math.inf
        try:
            self.run_forever()
        finally:
            self._virtual.limit, self._virtual.idle = math.inf, None
        return self._virtual.next

    def time(self) -> float:
        """Return the virtual time in seconds, from 0."""
        return self._virtual.time

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run in a thread, as usual."""
        future = super().run_in_executor(executor, func, *args)
        self._virtual.outside += 1
        future.add_done_callback(self._came_back)
        return future

    def _came_back(self, _: asyncio.Future[Any]) -> None:
        self._virtual.outside -= 1


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time and return its result.

    >>> run(asyncio.sleep(86400, "a day later"))
    'a day later'
    """
    loop = VirtualLoop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(main)
    finally:
        finish(loop)


def finish(loop: asyncio.AbstractEventLoop) -> None:
    """End all tasks of a loop that does not run, and close it."""
    try:
        _cancel_rest(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _cancel_rest(loop: asyncio.AbstractEventLoop) -> None:
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))


def virtual(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Make a plain test of a coroutine function: it runs in virtual time.

    ::

        @virtual
        async def test_it_reports_each_hour() -> None: ...
    """

    @functools.wraps(test)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        async def main() -> None:
            await test(*args, **kwargs)

        run(main())

    wrapper.__signature__ = inspect.signature(test)  # type: ignore[attr-defined]
    return wrapper
