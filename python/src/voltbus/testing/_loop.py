"""An event loop whose time passes only when nothing is left to do."""

from __future__ import annotations

import asyncio
import functools
import inspect
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Looks for what is ready, and moves the time on where another one would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.outside = 0  # jobs in threads, which take real time

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or self.outside:
            # Only a thread or a socket can go on: that takes real time.
            return super().select(timeout if timeout is None else min(timeout, 0.01))
        ready = super().select(0)
        if not ready and timeout > 0:
            self.time += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Waits for nothing: a sleep of a day ends at once, after all that is due before it.

    Work in threads (``asyncio.to_thread``) takes real time, in which the virtual time stands still.
    """

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        # Timers closer together than this are due at once; the default is the real clock's.
        self._clock_resolution = 1e-9

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
