"""A bus in memory: subjects, permissions and requests as the node's server has them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from .._protocol import Headers, Raw, encode_headers
from .._transport import Deliver
from ..errors import Conflict, Refused, Timeout, Unreachable
from ..grant import Fence, Grants, publish_subjects, subscribe_subjects
from ..path import token


class Server:
    """Hands messages from one connection to others, in the order in which they came."""

    def __init__(self) -> None:
        self.members: dict[str, MemoryTransport] = {}
        self.keys: dict[str, Grants] = {}
        self.violations: list[tuple[str, str, str]] = []  # name, kind, subject
        self.up = True
        self.answer: Callable[[str, str, Raw], Awaitable[bytes | None]] = _nobody
        self._ids = itertools.count(1)

    def route(self, message: Raw) -> bool:
        """Deliver to all who listen; False if nobody does."""
        heard = False
        for member in list(self.members.values()):
            if message.subject.startswith("_INBOX.") and member.take_answer(message):
                return True
            for sub in list(member.subs):
                if _matches(sub.parts, message.subject):
                    heard = True
                    member.enqueue(sub, message)
        return heard

    def next_inbox(self, name: str) -> str:
        """Return a subject for one answer."""
        return f"_INBOX.{token(name)}.{next(self._ids)}"

    def cut(self) -> None:
        """Break all connections, as a restart of the node does; they come back by ``restore``."""
        self.up = False
        for member in list(self.members.values()):
            member.lose("the node was restarted")

    async def restore(self) -> None:
        """Let all come back."""
        self.up = True
        for member in list(self.members.values()):
            await member.come_back()


class _Sub:
    def __init__(self, owner: MemoryTransport, subject: str, deliver: Deliver) -> None:
        self._owner = owner
        self._subject = subject
        self.parts = subject.split(".")
        self.deliver = deliver
        self.live = True

    @property
    def subject(self) -> str:
        return self._subject

    def close(self) -> None:
        self.live = False
        if self in self._owner.subs:
            self._owner.subs.remove(self)


class MemoryTransport:
    """A ``Transport`` to a ``Server``. Messages arrive in a later turn of the event loop."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self.name = name
        self.subs: list[_Sub] = []
        self.dropped = 0
        self.greet: Callable[[], Awaitable[Any]] = _greet
        self.refused: Callable[[str, str], None] = lambda kind, subject: None
        self.down: Callable[[str], None] = lambda why: None
        self._wanted: list[_Sub] = []
        self._up = asyncio.Event()
        self._pending: dict[str, tuple[asyncio.Future[Raw], str]] = {}
        self._watched: dict[tuple[str, str], bool] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._may_answer: set[str] = set()
        self._greeting = False

    @property
    def connected(self) -> bool:
        return self._up.is_set()

    async def open(self) -> None:
        if self.name not in self._server.keys:
            raise Refused("the node does not know this agent's key", subject=self.name)
        if self.name in self._server.members:
            raise Conflict("another connection uses the name", subject=self.name)
        if not self._server.up:
            raise Unreachable("the node cannot be reached")
        self._server.members[self.name] = self
        try:
            await self.come_back()
        except BaseException:
            del self._server.members[self.name]
            raise

    async def come_back(self) -> None:
        """Greet, subscribe, and let requests go on."""
        self._greeting = True
        try:
            await self.greet()
        finally:
            self._greeting = False
        self.subs = []
        for sub in self._wanted:
            self._admit(sub)
        self._up.set()

    def lose(self, why: str) -> None:
        """Break the connection."""
        self._up.clear()
        self.subs = []
        for future, _ in list(self._pending.values()):
            if not future.done():
                future.set_exception(Unreachable(f"the connection was lost ({why})"))
        self.down(why)

    async def close(self) -> None:
        self._up.clear()
        if self._server.members.get(self.name) is self:
            del self._server.members[self.name]
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for future, _ in list(self._pending.values()):
            if not future.done():
                future.set_exception(Unreachable("the connection was closed"))
                future.exception()

    # -- what goes

    def publish(
        self, subject: str, data: bytes, reply: str = "", headers: Headers | None = None
    ) -> None:
        if not self._up.is_set() and not self._greeting:
            self.dropped += 1
            return
        loop = asyncio.get_running_loop()
        head = encode_headers(headers) if headers else b""
        loop.call_soon(self._pass_on, Raw(subject, reply, head, bytes(data)))

    def _pass_on(self, raw: Raw) -> None:
        if raw.subject in self._may_answer:
            self._may_answer.discard(raw.subject)
        elif not self._allowed(publish_subjects, raw.subject):
            self._violate("publish", raw.subject)
            return
        if raw.subject.startswith("rpc.node."):
            self._ask_node(raw)
        elif not self._server.route(raw) and raw.reply:
            pending = self._pending.get(raw.reply)
            if pending is not None and not pending[0].done():
                pending[0].set_exception(Unreachable("nobody answers there now"))

    def _ask_node(self, raw: Raw) -> None:
        async def ask() -> None:
            method = raw.subject.rpartition(".")[2]
            body = await self._server.answer(self.name, method, raw)
            if body is not None and raw.reply:
                self._answered(Raw(raw.reply, "", b"", body))

        self._run(ask())

    def _run(self, job: Any) -> None:
        task = asyncio.ensure_future(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        return None

    def request(self, subject: str, data: bytes, timeout: float) -> asyncio.Future[Raw]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Raw] = loop.create_future()
        inbox = self._server.next_inbox(self.name)
        self._pending[inbox] = (future, subject)

        def expire() -> None:
            if not future.done():
                future.set_exception(
                    Timeout("no answer came in time; it may have been done")
                    if self._up.is_set()
                    else Unreachable("the node cannot be reached")
                )

        timer = loop.call_later(timeout, expire)

        def forget(_: asyncio.Future[Raw]) -> None:
            timer.cancel()
            self._pending.pop(inbox, None)

        future.add_done_callback(forget)
        if self._up.is_set() or self._greeting:
            self.publish(subject, data, inbox)
        else:
            self._run(self._later(subject, data, inbox))
        return future

    async def _later(self, subject: str, data: bytes, inbox: str) -> None:
        await self._up.wait()
        if inbox in self._pending:
            self.publish(subject, data, inbox)

    def subscribe(self, subject: str, deliver: Deliver) -> _Sub:
        sub = _Sub(self, subject, deliver)
        self._wanted.append(sub)
        if self._up.is_set():
            asyncio.get_running_loop().call_soon(self._admit, sub)
        return sub

    def _admit(self, sub: _Sub) -> None:
        if not sub.live:
            if sub in self._wanted:
                self._wanted.remove(sub)
        elif self._allowed(subscribe_subjects, sub.subject):
            self.subs.append(sub)
        else:
            self._violate("subscription", sub.subject)

    async def confirm(self, kind: str, subject: str) -> bool:
        self._watched[kind, subject] = True
        try:
            await asyncio.sleep(0)  # what was sent is seen in this turn
            await asyncio.sleep(0)
            return self._watched[kind, subject]
        finally:
            self._watched.pop((kind, subject), None)

    # -- what comes

    def enqueue(self, sub: _Sub, raw: Raw) -> None:
        """Take a message for one of the subscriptions."""
        if raw.reply:
            self._may_answer.add(raw.reply)
        asyncio.get_running_loop().call_soon(self._deliver, sub, raw)

    def _deliver(self, sub: _Sub, raw: Raw) -> None:
        if sub.live:
            sub.deliver(raw)

    def _answered(self, raw: Raw) -> None:
        pending = self._pending.get(raw.subject)
        if pending is not None and not pending[0].done():
            pending[0].set_result(raw)

    def take_answer(self, raw: Raw) -> bool:
        """Take an answer of another agent; False if it is not for this one."""
        if raw.subject not in self._pending:
            return False
        self._answered(raw)
        return True

    # -- permissions

    def regrant(self) -> None:
        """End the subscriptions that the grants do not allow any more."""
        for sub in list(self.subs):
            if sub in self.subs and not self._allowed(subscribe_subjects, sub.subject):
                self.subs.remove(sub)
                self._violate("subscription", sub.subject)

    def _allowed(self, subjects: Callable[[str, Grants], list[str]], subject: str) -> bool:
        return Fence(subjects(self.name, self._server.keys[self.name])).admits(subject)

    def _violate(self, kind: str, subject: str) -> None:
        self._server.violations.append((self.name, kind, subject))
        known = False
        for future, to in list(self._pending.values()):
            if kind == "publish" and to == subject and not future.done():
                future.set_exception(Refused("the node does not allow it", subject=subject))
                known = True
        if (kind, subject) in self._watched:
            self._watched[kind, subject] = False
            known = True
        if not known:
            self.refused(kind, subject)


def _matches(parts: list[str], subject: str) -> bool:
    tokens = subject.split(".")
    for i, part in enumerate(parts):
        if part == ">":
            return len(tokens) > i
        if i >= len(tokens) or part not in ("*", tokens[i]):
            return False
    return len(parts) == len(tokens)


async def _greet() -> None:
    return None


async def _nobody(name: str, method: str, raw: Raw) -> bytes | None:
    return None
