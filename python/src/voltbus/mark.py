"""Marks on methods of an agent: what is due when, and what others may call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar, Union, overload

from .errors import Invalid
from .schedule import Cron, Daily, Every, Once

__all__ = ["at", "cron", "every", "on", "on_change", "rpc"]

F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE = "__voltbus__"


class Listen:
    """The method takes what a subscription brings, one after the other and in order."""

    def __init__(self, kind: str, patterns: tuple[str, ...], prefix: str | None) -> None:
        if bool(patterns) == (prefix is not None):
            raise Invalid('name patterns, or a prefix; "**" is everything')
        self.kind = kind  # samples, messages or scans
        self.patterns = patterns
        self.prefix = prefix
        self.by: float | None = None  # only changes, of at least so much
        self.sender: str | None = None


class Watch:
    """The method takes changes of documents whose names match."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern.lower()


class Due:
    """The method is called by a schedule."""

    def __init__(self, schedule: Every | Cron | Daily | Once) -> None:
        self.schedule = schedule


class Offered:
    """The method can be called by others."""

    def __init__(self, name: str, needs: tuple[str, ...]) -> None:
        self.name = name
        self.needs = needs


Mark = Union[Listen, Watch, Due, Offered]


def marks(function: Any) -> list[Mark]:
    """Return the marks of a function."""
    return getattr(function, _ATTRIBUTE, [])


def _mark(mark: Mark) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        function.__dict__.setdefault(_ATTRIBUTE, []).append(mark)
        return function

    return decorate


class _On:
    """``@on("demo/plant/*/temp")`` calls the method with each ``Sample`` of these points.

    ``prefix=`` selects by the first characters of the path in place of patterns.
    """

    def __call__(self, *patterns: str, prefix: str | None = None) -> Callable[[F], F]:
        return _mark(Listen("samples", patterns, prefix))

    def scan(self, *patterns: str, prefix: str | None = None) -> Callable[[F], F]:
        """Call the method with each ``Scan`` of these devices."""
        return _mark(Listen("scans", patterns, prefix))

    def message(
        self, *patterns: str, prefix: str | None = None, sender: str | None = None
    ) -> Callable[[F], F]:
        """Call the method with each ``Message`` on these topics, of one sender or of all."""
        mark = Listen("messages", patterns, prefix)
        mark.sender = sender
        return _mark(mark)

    def document(self, pattern: str = "*") -> Callable[[F], F]:
        """Call the method as ``(name, action, content)`` for the agent's documents.

        ``pattern`` is as in a shell, and does not mind case. ``action`` is NEW for each document at
        the start, ``config`` first, then NEW, UPDATE or DELETE, with None as content.
        """
        return _mark(Watch(pattern))


on = _On()


def on_change(*patterns: str, by: float = 0, prefix: str | None = None) -> Callable[[F], F]:
    """Call the method as ``(sample, before)`` when a value has changed, by at least ``by``.

    ``before`` is the sample that it was last called with, None at the first.
    """
    mark = Listen("samples", patterns, prefix)
    mark.by = by
    return _mark(mark)


def every(
    *, seconds: float = 0, minutes: float = 0, hours: float = 0, wait: bool = False
) -> Callable[[F], F]:
    """Call the method at the start and then each interval; ``wait`` leaves out the start.

    A call that takes longer than the interval delays the next one, and none are caught up on.
    """
    return _mark(Due(Every(seconds + 60 * minutes + 3600 * hours, wait=wait)))


def cron(expression: str, *, zone: str = "UTC") -> Callable[[F], F]:
    """Call the method by a cron expression in a time zone; see ``voltbus.schedule.Cron``."""
    return _mark(Due(Cron(expression, zone)))


def at(*times: str | datetime, zone: str = "UTC") -> Callable[[F], F]:
    """Call the method at times of the day, such as ``at("06:30", zone="Europe/Berlin")``.

    A ``datetime`` with a zone is one moment.
    """
    daily = [t for t in times if isinstance(t, str)]
    if len(daily) == len(times):
        return _mark(Due(Daily(*daily, zone=zone)))
    if daily or len(times) != 1 or not isinstance(times[0], datetime):
        raise Invalid("name times of the day, or one datetime")
    return _mark(Due(Once(times[0])))


@overload
def rpc(function: F, /) -> F: ...
@overload
def rpc(*, name: str = "", needs: str | tuple[str, ...] = ()) -> Callable[[F], F]: ...
def rpc(function: Any = None, /, *, name: str = "", needs: str | tuple[str, ...] = ()) -> Any:
    """Let other agents call the method.

    Arguments are checked against the annotations: a wrong one is refused as ``Invalid`` before the
    method runs. ``needs`` names capabilities that the caller must hold.
    """
    demanded = (needs,) if isinstance(needs, str) else tuple(needs)
    if function is None:
        return lambda f: _mark(Offered(name or f.__name__, demanded))(f)
    return _mark(Offered(function.__name__, ()))(function)
