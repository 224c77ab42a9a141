"""One connection to a node's bus over TLS 1.3, which comes back by itself."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import logging
import random
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ._nkey import Key
from ._protocol import BrokenError, Headers, Parser, Raw, message, parse_violation
from ._transport import Deliver
from ._version import __version__
from .errors import Error, Refused, Timeout, Unreachable
from .path import token

log = logging.getLogger("voltbus.connection")

CONNECT_TIMEOUT = 10.0
PING_INTERVAL = 20.0
FIRST_PAUSE, LAST_PAUSE = 0.1, 15.0  # seconds between attempts, doubling
_HIGH_WATER = 4 << 20
_KEEP_UNSENT = 2.0  # seconds that close waits for what was published
_UNKNOWN_KEY = (
    "the node does not know this agent's key, or it was revoked; "
    "register the agent, or look at the audit log for who revoked it"
)


class _Link(asyncio.Protocol):
    """One TCP connection: bytes in, bytes out, nothing remembered."""

    def __init__(self, owner: Connection) -> None:
        loop = asyncio.get_running_loop()
        self._owner = owner
        self._parser = Parser(owner._on_message, self._on_line)
        self._out: list[bytes] = []
        self._scheduled = False
        self._loop = loop
        self.transport: asyncio.Transport | None = None
        self.info: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.closed: asyncio.Future[str] = loop.create_future()
        self.gone = asyncio.Event()  # the socket too
        self.pongs: deque[asyncio.Future[None]] = deque()
        self.writable = asyncio.Event()
        self.writable.set()
        self.complaint = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed(data)
        except BrokenError as e:
            self.end(f"the other side does not speak NATS: {e}")

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        self.end(self.complaint or (str(exc) if exc else "the node closed the connection"))

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def write(self, data: bytes) -> None:
        """Send with everything else that this turn of the event loop produces."""
        self._out.append(data)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        out, self._out = self._out, []
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(b"".join(out))

    def ping(self) -> asyncio.Future[None]:
        """Return the future of the answer to a PING: all before it has been seen."""
        pong: asyncio.Future[None] = self._loop.create_future()
        self.pongs.append(pong)
        self.write(b"PING\r\n")
        return pong

    def end(self, why: str) -> None:
        """Close, and fail what waits."""
        if not self.closed.done():
            self.closed.set_result(why)
        self.writable.set()
        if not self.info.done():
            self.info.set_exception(Unreachable(why))
            self.info.exception()  # nobody may be waiting yet
        for pong in self.pongs:
            if not pong.done():
                pong.set_exception(Unreachable(why))
                pong.exception()
        self.pongs.clear()
        if self.transport is None:
            self.gone.set()
        else:
            self.transport.abort()

    def _on_line(self, verb: str, rest: str) -> None:
        if verb == "PING":
            self.write(b"PONG\r\n")
        elif verb == "PONG":
            if self.pongs:
                pong = self.pongs.popleft()
                if not pong.done():
                    pong.set_result(None)
        elif verb == "-ERR":
            self._on_error(rest.strip().strip("'"))
        elif verb == "INFO" and not self.info.done():
            try:
                info = msgspec.json.decode(rest)
            except msgspec.DecodeError:
                self.end("the other side does not speak NATS: its greeting cannot be read")
                return
            self.info.set_result(info if isinstance(info, dict) else {})

    def _on_error(self, text: str) -> None:
        violation = parse_violation(text)
        if violation:
            self._owner._on_violation(*violation)
        else:
            self.complaint = text
            log.debug("the node complains", extra={"complaint": text})


class _Subscription:
    """See ``Subscription``."""

    def __init__(self, owner: Connection, sid: str, subject: str, deliver: Deliver) -> None:
        self._owner = owner
        self.sid = sid
        self._subject = subject
        self.deliver = deliver

    @property
    def subject(self) -> str:
        return self._subject

    def close(self) -> None:
        self._owner._unsubscribe(self)


# A request on its way: its answer, its subject, and what ends its time.
_Asked = tuple[asyncio.Future[Raw], str, asyncio.TimerHandle]


class Connection:
    """A ``Transport`` over TLS 1.3.

    Lost connections come back with a pause that doubles, with all subscriptions. Requests on their
    way when a connection is lost fail with ``Unreachable``; requests made while it is down wait for
    it within their time.
    """

    def __init__(self, address: str, name: str, trust: ssl.SSLContext, key: Key) -> None:
        host, _, port = address.rpartition(":")
        self._host, self._port = host.strip("[]"), port
        self._address = address
        self._name = name
        self._trust = trust
        self._key = key
        self._link: _Link | None = None
        self._up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._subs: dict[str, _Subscription] = {}
        self._sids = itertools.count(2)  # 1 is the inbox
        self._inbox = f"_INBOX.{token(name)}.{random.getrandbits(40):010x}."
        self._ids = itertools.count(1)
        self._pending: dict[str, _Asked] = {}
        self._watched: dict[tuple[str, str], bool] = {}
        self._closing = False
        self._greeter: asyncio.Task[Any] | None = None
        self.dropped = 0
        self.greet: Callable[[], Awaitable[Any]] = _nothing
        self.refused: Callable[[str, str], None] = lambda kind, subject: None
        self.down: Callable[[str], None] = lambda why: None

    @property
    def connected(self) -> bool:
        return self._up.is_set()

    async def open(self) -> None:
        if not self._port.isdigit() or not self._host:
            message = "not the address of a bus; write host:port, such as 127.0.0.1:4222"
            raise Unreachable(message, subject=self._address)
        link = await self._connect()
        self._task = asyncio.create_task(self._keep(link), name=f"voltbus connection {self._name}")

    async def close(self) -> None:
        self._closing = True
        link = self._link
        if link is not None and self.connected:
            with contextlib.suppress(Error, asyncio.TimeoutError):
                await asyncio.wait_for(link.ping(), _KEEP_UNSENT)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if link is not None:
            link.end("closed")
            await link.gone.wait()
        self._up.clear()
        self._fail_pending("the connection was closed")

    # -- the connection's life

    async def _keep(self, link: _Link) -> None:
        while True:
            why = await self._serve(link)
            self._up.clear()
            self._fail_pending(f"the connection was lost before an answer came ({why})")
            self.down(why)
            link = await self._reconnect()

    async def _serve(self, link: _Link) -> str:
        """Return why the connection ended."""
        while True:
            done, _ = await asyncio.wait({link.closed}, timeout=PING_INTERVAL)
            if done:
                return link.closed.result()
            if len(link.pongs) >= 2:
                link.end("the node is silent")
            else:
                link.ping().add_done_callback(_seen)

    async def _reconnect(self) -> _Link:
        for attempt in itertools.count():
            pause = min(LAST_PAUSE, FIRST_PAUSE * 2 ** min(attempt, 20))
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # not all agents at once
            try:
                return await self._connect()
            except (Error, OSError) as e:
                level = logging.WARNING if attempt & (attempt + 1) == 0 else logging.DEBUG
                log.log(level, "the node cannot be reached", extra={"err": str(e)})
        raise AssertionError("unreachable")

    async def _connect(self) -> _Link:
        link = _Link(self)
        try:
            await asyncio.wait_for(self._shake(link), CONNECT_TIMEOUT)
        except BaseException as e:
            link.end("the connection was not made")
            await link.gone.wait()
            self._link = None
            self._up.clear()
            if isinstance(e, asyncio.TimeoutError):
                raise Unreachable("the node does not answer", subject=self._address) from None
            if isinstance(e, OSError) and not isinstance(e, Error):
                raise Unreachable(_why(e), subject=self._address) from None
            raise
        return link

    async def _shake(self, link: _Link) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(lambda: link, self._host, int(self._port))
        info = await link.info
        secured = await loop.start_tls(transport, link, self._trust, server_hostname=self._host)
        if secured is None:
            raise Unreachable("the connection was lost", subject=self._address)
        secured.set_write_buffer_limits(high=_HIGH_WATER)
        link.transport = secured
        link.write(b"CONNECT " + msgspec.json.encode(self._claim(info)) + b"\r\n")
        self._link = link
        try:
            await link.ping()
        except Unreachable as e:
            if "authorization" in link.complaint.lower():
                raise Refused(_UNKNOWN_KEY, subject=self._key.public) from None
            raise Unreachable(e.message, subject=self._address) from None
        link.write(f"SUB {self._inbox}* 1\r\n".encode())
        self._greeter = asyncio.current_task()
        try:
            await self.greet()
        finally:
            self._greeter = None
        for sub in self._subs.values():
            link.write(f"SUB {sub.subject} {sub.sid}\r\n".encode())
        self._up.set()
        await link.ping()  # who is told that it is connected can be called

    def _claim(self, info: dict[str, Any]) -> dict[str, Any]:
        signature = self._key.sign(str(info.get("nonce", "")).encode())
        return {
            "verbose": False,
            "pedantic": False,
            "tls_required": True,
            "lang": "voltbus-python",
            "version": __version__,
            "name": self._name,
            "protocol": 1,
            "headers": True,
            "no_responders": True,
            "echo": True,
            "nkey": self._key.public,
            "sig": base64.urlsafe_b64encode(signature).decode().rstrip("="),
        }

    # -- what comes

    def _on_message(self, sid: str, raw: Raw) -> None:
        if sid == "1":
            waiting = self._pending.pop(raw.subject[len(self._inbox) :], None)
            if waiting is None:
                return
            future, _, timer = waiting
            timer.cancel()
            if future.done():
                return
            if raw.head and raw.status == 503:
                future.set_exception(Unreachable("nobody answers there now"))
            else:
                future.set_result(raw)
            return
        sub = self._subs.get(sid)
        if sub is not None:
            sub.deliver(raw)

    def _on_violation(self, kind: str, subject: str) -> None:
        known = False
        if kind == "publish":
            for key, (future, to, timer) in list(self._pending.items()):
                if to == subject:
                    known = True
                    timer.cancel()
                    del self._pending[key]
                    if not future.done():
                        future.set_exception(Refused("the node does not allow it", subject=subject))
        if (kind, subject) in self._watched:
            self._watched[kind, subject] = False
            known = True
        if not known:
            self.refused(kind, subject)

    def _fail_pending(self, why: str) -> None:
        pending, self._pending = self._pending, {}
        for future, _, timer in pending.values():
            timer.cancel()
            if not future.done():
                future.set_exception(Unreachable(why))
                future.exception()

    # -- what goes

    def publish(
        self, subject: str, data: bytes, reply: str = "", headers: Headers | None = None
    ) -> None:
        if self._link is None or not self.connected:
            self.dropped += 1
            return
        self._link.write(message(subject, data, reply, headers))

    async def drain(self) -> None:
        if self._link is not None:
            await self._link.writable.wait()

    def request(self, subject: str, data: bytes, timeout: float) -> asyncio.Future[Raw]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Raw] = loop.create_future()
        key = str(next(self._ids))
        timer = loop.call_later(timeout, self._expire, key, future)
        if self.connected or self._greeting():
            self._ask(key, (future, subject, timer), data)
        elif self._closing:
            timer.cancel()
            future.set_exception(Unreachable("the connection was closed"))
        else:
            waiter = asyncio.ensure_future(self._up.wait())
            waiter.add_done_callback(lambda w: self._ask_later(w, key, (future, subject, timer), data))
            future.add_done_callback(lambda _: waiter.cancel())
        return future

    def _greeting(self) -> bool:
        """Whether it is greet that asks, which comes before everything else."""
        return self._greeter is not None and asyncio.current_task() is self._greeter

    def _ask_later(self, up: asyncio.Future[Any], key: str, asked: _Asked, data: bytes) -> None:
        if not up.cancelled() and not asked[0].done():
            self._ask(key, asked, data)

    def _ask(self, key: str, asked: _Asked, data: bytes) -> None:
        assert self._link is not None
        self._pending[key] = asked
        self._link.write(message(asked[1], data, self._inbox + key))

    def _expire(self, key: str, future: asyncio.Future[Raw]) -> None:
        asked = self._pending.pop(key, None)
        if future.done():
            return
        if asked is None:
            future.set_exception(Unreachable("the node cannot be reached", subject=self._address))
        else:
            future.set_exception(Timeout("no answer came in time; it may have been done"))

    def subscribe(self, subject: str, deliver: Deliver) -> _Subscription:
        sub = _Subscription(self, str(next(self._sids)), subject, deliver)
        self._subs[sub.sid] = sub
        if self._link is not None and self.connected:
            self._link.write(f"SUB {subject} {sub.sid}\r\n".encode())
        return sub

    def _unsubscribe(self, sub: _Subscription) -> None:
        if self._subs.pop(sub.sid, None) and self._link is not None and self.connected:
            self._link.write(f"UNSUB {sub.sid}\r\n".encode())

    async def confirm(self, kind: str, subject: str) -> bool:
        if self._link is None or not self.connected:
            return True
        self._watched[kind, subject] = True
        try:
            await self._link.ping()
            return self._watched[kind, subject]
        except Unreachable:
            return True
        finally:
            self._watched.pop((kind, subject), None)


async def _nothing() -> None:
    return None


def _seen(pong: asyncio.Future[None]) -> None:
    if not pong.cancelled():
        pong.exception()


def _why(e: OSError) -> str:
    if isinstance(e, ssl.SSLCertVerificationError):
        return (
            f"the node's certificate is not trusted ({e.verify_message}); give the ca.pem of this node"
        )
    return f"the node cannot be reached ({e.strerror or e}); is it running, and is this its bus?"
