"""What the SDK needs of a bus. The connection over TLS and the bus in memory both provide it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ._protocol import Headers, Raw

Deliver = Callable[[Raw], None]


class Subscription(Protocol):
    """A subscription to messages; ``close`` ends it at once."""

    @property
    def subject(self) -> str:
        """The subject that was asked for."""

    def close(self) -> None:
        """End it. Nothing is delivered after that."""


class Transport(Protocol):
    """A connection to a bus under one name. It belongs to one event loop.

    The three callbacks are set before ``open``: ``greet`` runs after each connect and before
    anything else is sent, ``refused`` hears of violations ("publish" or "subscription", subject)
    that no pending call explains, and ``down`` that the connection was lost, and why.
    """

    greet: Callable[[], Awaitable[Any]]
    refused: Callable[[str, str], None]
    down: Callable[[str], None]

    @property
    def connected(self) -> bool:
        """Whether messages get through now."""

    @property
    def dropped(self) -> int:
        """How many live messages were not sent because the connection was down."""

    async def open(self) -> None:
        """Connect. Fails with ``Unreachable``, ``Refused`` or what ``greet`` raises."""

    async def close(self) -> None:
        """End everything; what was published before is handed over first."""

    def publish(
        self, subject: str, data: bytes, reply: str = "", headers: Headers | None = None
    ) -> None:
        """Send, without waiting. While the connection is down the message is counted and lost."""

    async def drain(self) -> None:
        """Wait until what was published does not fill the memory any more."""

    def request(self, subject: str, data: bytes, timeout: float) -> asyncio.Future[Raw]:
        """Send and return the future of the answer.

        It fails with ``Refused``, ``Unreachable`` or ``Timeout`` (seconds).
        """

    def subscribe(self, subject: str, deliver: Deliver) -> Subscription:
        """Have every message on the subject delivered, in order, from the event loop."""

    async def confirm(self, kind: str, subject: str) -> bool:
        """Wait for the server to have seen all that was sent. False: it refused this subject."""
