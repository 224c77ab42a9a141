"""Which subjects a subscription needs, and the bounded queue that its messages wait in."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Generic, TypeVar

from ._transport import Subscription
from .errors import Canceled
from .path import Pattern, subject, token

log = logging.getLogger("voltbus.stream")

T = TypeVar("T")
_END = object()


class Need:
    """Subjects that a subscription takes. What is in ``must`` cannot be left out."""

    def __init__(self, must: list[str], also: list[str]) -> None:
        self.must = must
        self.also = also


def scan_need(pattern: Pattern) -> Need:
    """Return the subjects of scans that can hold a point that the pattern selects.

    No scan has two of them. A device whose path is shorter than the pattern's can hold such a point
    too; its subjects are left out if they are not granted.
    """
    tokens = pattern.tokens()
    if not tokens:
        return Need(["live.scan.>"], [])
    shorter = [f"live.scan.{'.'.join(tokens[:n])}" for n in range(1, len(tokens) + 1)]
    if pattern.deep:
        return Need([f"{shorter[-1]}.>"], shorter)
    device = max(len(tokens) - 2, 0)  # the last segment is the point's name
    return Need([shorter[device]], shorter[:device] + shorter[device + 1 :])


def message_need(pattern: Pattern, sender: str | None) -> Need:
    """Return the subjects of messages whose topic the pattern can select."""
    who = token(sender) if sender else "*"
    tokens = ".".join(pattern.tokens())
    if not tokens:
        return Need([f"msg.{who}.>"], [])
    if not pattern.deep:
        return Need([f"msg.{who}.{tokens}"], [])
    return Need([f"msg.{who}.{tokens}.>"], [f"msg.{who}.{tokens}"])


def below(kind: str, prefix: str) -> list[str]:
    """Return the subjects of everything that can begin with the characters."""
    whole = prefix.rpartition("/")[0]
    if not whole:
        return [f"{kind}>"]
    segments = whole.split("/")
    above = [subject(kind, "/".join(segments[:n])) for n in range(1, len(segments))]
    return [f"{subject(kind, whole)}.>", subject(kind, whole), *above]


class Stream(Generic[T]):
    """What a subscription brings: an async iterator over a bounded queue.

    When the program is slower than the bus for long, the oldest waiting items are dropped; ``lost``
    counts them, and the log tells of it. Close it, or use it with ``async with``.
    """

    def __init__(self, name: str, limit: int, closed: Callable[[Stream[T]], None]) -> None:
        self.name = name
        self.lost = 0
        self._items: deque[T | object] = deque()
        self._limit = limit
        self._wake: asyncio.Future[None] | None = None
        self._subs: list[Subscription] = []
        self._closed = closed
        self._over = False
        self._reason: BaseException | None = None

    def attach(self, subs: Iterable[Subscription]) -> None:
        """Have it end these subscriptions with itself."""
        self._subs.extend(subs)

    def put(self, item: T) -> None:
        """Append an item; the oldest one gives way if there are too many."""
        if self._over:
            return
        if len(self._items) >= self._limit:
            self._items.popleft()
            self.lost += 1
            if self.lost & (self.lost - 1) == 0:  # the first, and then each doubling
                log.warning(
                    "messages were lost because they are taken too slowly",
                    extra={"subscription": self.name, "lost": self.lost},
                )
        self._items.append(item)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def close(self, reason: BaseException | None = None) -> None:
        """End it. Who iterates gets what still waits, and then the end, or the reason."""
        if self._over:
            return
        self._over, self._reason = True, reason
        for sub in self._subs:
            sub.close()
        self._closed(self)
        self._items.append(_END)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def __aenter__(self) -> Stream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._wake is not None and not self._wake.done():
                raise Canceled("another task iterates over this subscription already")
            self._wake = asyncio.get_running_loop().create_future()
            try:
                await self._wake
            finally:
                self._wake = None
        item = self._items.popleft()
        if item is _END:
            self._items.append(_END)
            if self._reason is not None:
                raise self._reason
            raise StopAsyncIteration
        return item  # type: ignore[return-value]
