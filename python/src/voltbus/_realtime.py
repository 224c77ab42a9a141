"""Finds calls of the machine's clock by code that should follow a virtual one."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from datetime import date, datetime
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Calls", "is_foreign"]

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_FUNCTIONS = ("time", "time_ns", "sleep", "monotonic", "monotonic_ns", "localtime", "gmtime")
_METHODS = ("now", "utcnow")  # today asks time.time


class Calls:
    """Notes each line that asks the machine's clock or sleeps by it, once, while a block runs.

    Calls from the SDK and from Python's own library are not noted. The calls do what they always do.
    """

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self._taken = 0
        self._slots: dict[str, Any] = {}
        self._before: list[tuple[str, Callable[..., Any]]] = []

    def take(self) -> list[str]:
        """Return what was noted since the last time."""
        new = list(self._seen)[self._taken :]
        self._taken += len(new)
        return new

    def __enter__(self) -> Calls:
        for name in _FUNCTIONS:
            original = getattr(time, name)
            self._before.append((name, original))
            setattr(time, name, self._watched(f"time.{name}", original))
        slots = _slots()
        if slots is None:  # slower: each call of a function costs a call of the profiler
            sys.setprofile(self._profile)
            threading.setprofile(self._profile)
            return self
        for name in _METHODS:
            self._slots[name] = slots[name]
            slots[name] = classmethod(self._method(name, slots[name]))
        _forget()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None
    ) -> None:
        slots = _slots()
        if slots is None or not self._slots:
            sys.setprofile(None)
            threading.setprofile(None)
        else:
            slots.update(self._slots)
            _forget()
            self._slots = {}
        for name, original in self._before:
            setattr(time, name, original)
        self._before = []

    def _watched(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self._note(name, sys._getframe(1))
            return original(*args)

        return call

    def _method(self, name: str, original: Any) -> Callable[..., Any]:
        def call(kind: type[datetime], *args: Any, **kwargs: Any) -> Any:
            self._note(f"datetime.{name}", sys._getframe(1))
            return original.__get__(None, kind)(*args, **kwargs)

        return call

    def _profile(self, frame: FrameType, event: str, what: Any) -> None:
        if event != "c_call":
            return
        owner = getattr(what, "__self__", None)
        if isinstance(owner, type) and issubclass(owner, date) and what.__name__ in _METHODS:
            self._note(f"datetime.{what.__name__}", frame)

    def _note(self, name: str, frame: FrameType) -> None:
        file = frame.f_code.co_filename
        if not is_foreign(file):
            return
        self._seen.setdefault(f"{file}:{frame.f_lineno}: {name}() in {frame.f_code.co_name}")


def _slots() -> dict[str, Any] | None:
    """Return the dictionary behind the attributes of ``datetime``; they take no assignment."""
    found = gc.get_referents(datetime.__dict__)
    if len(found) == 1 and isinstance(found[0], dict) and all(n in found[0] for n in _METHODS):
        return found[0]
    return None


def _forget() -> None:
    """Have the interpreter look up the attributes of ``datetime`` anew."""
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))


def is_foreign(file: str) -> bool:
    """Report whether code is neither the SDK's nor that of Python's own library."""
    return not file.startswith((_OWN, "<frozen")) and not _is_library(file)


def _is_library(file: str) -> bool:
    return file.startswith(_LIBRARY) and "site-packages" not in file
