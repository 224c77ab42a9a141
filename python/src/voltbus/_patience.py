"""Limits how long code may take in real time, and says where it waits."""

from __future__ import annotations

import linecache
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

from ._realtime import is_foreign

__all__ = ["Limit"]


class Limit:
    """Calls a function when a block takes longer than a time. A sleep in the block is interrupted.

    The function gets the line of the block's code that is under way, such as
    ``cooling.py:12: time.sleep(60)``, or "" if none is. It works in the main thread only, where
    signals arrive; elsewhere, and for 0 seconds, nothing is limited.
    """

    def __init__(self, seconds: float, late: Callable[[str], None]) -> None:
        main = threading.current_thread() is threading.main_thread()
        self._seconds = seconds if main else 0.0
        self._late = late
        if self._seconds > 0:
            signal.signal(signal.SIGALRM, self._ring)

    def __enter__(self) -> None:
        if self._seconds > 0:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._seconds > 0:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _signal: int, frame: FrameType | None) -> None:
        while frame is not None and not is_foreign(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            self._late("")
            return
        file, line = frame.f_code.co_filename, frame.f_lineno
        self._late(f"{file}:{line}: {linecache.getline(file, line).strip()}")
