"""A connection to a node: publish, listen, record, call and be called."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from . import _call, _json, _place
from ._connection import Connection
from ._far import Far
from ._history import History, moment
from ._listen import Listening, capability
from ._protocol import Headers, Raw, encode_headers
from ._serve import Methods, Served
from ._transport import Transport
from ._version import __version__
from .clock import Clock, SystemClock
from .control import Control
from .document import Documents
from .errors import Corrupt, Error, Invalid, Refused, Timeout, Unreachable
from .grant import Fence, Standing, publish_subjects, subscribe_subjects
from .model import Alert, Method, Peer, Sample, Scan, Value
from .operations import Operations
from .path import subject, token
from .recorder import Recorder

__all__ = ["Bus", "connect"]

log = logging.getLogger("voltbus")

TIMEOUT = 10.0  # seconds that a request waits for its answer
BATCH = 10_000  # samples in one request

_scan = msgspec.json.Decoder(Scan)
_point = msgspec.json.Decoder(Sample)


class Bus(Listening, History, Control, Far):
    """A connection to a node under a name. ``connect`` makes one.

    Use it with ``async with``: nothing outlives the block. It belongs to one event loop and may be
    used by all its tasks. A lost connection comes back by itself, with all subscriptions.

    Two ways of delivery: *live* (``publish``, ``send``) reaches who listens now, at most once, and
    waits for nobody; *recorded* (``record``) returns when the node's disk has it.
    """

    def __init__(self, transport: Transport, name: str, *, clock: Clock | None = None) -> None:
        super().__init__()
        self.name = name
        self.clock: Clock = clock or SystemClock()
        self.node_name = ""
        self.standing = Standing()
        self.documents = Documents(self)
        self.operations = Operations(self)
        self.stopping = asyncio.Event()  # the node asked this agent to end
        self.on_error: Callable[[Error], None] | None = None
        self._transport = transport
        self._methods = Methods(self)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._late: Refused | None = None
        self._alerts: dict[str, Alert] = {}
        self._may_publish = Fence([])
        self._may_subscribe = Fence([])
        self._refreshed = 0.0
        self._changed: list[Callable[[], None]] = []
        self._told = 0
        self._subjects_of: dict[tuple[str, str], str] = {}
        transport.greet = self._greet
        transport.refused = self._on_refused
        transport.down = self._on_down

    async def __aenter__(self) -> Bus:
        own = token(self.name)
        self._transport.subscribe(f"news.{own}.>", self._on_news)
        self._transport.subscribe(f"rpc.{own}.>", self._methods.on_request)
        await self._transport.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all subscriptions, methods and the connection. What was published is handed over."""
        for stream in list(self._streams):
            stream.close()
        tasks = [t for t in self._tasks if t is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.close()

    # -- live

    async def publish(
        self,
        device: str,
        values: Mapping[str, Value],
        *,
        time: datetime | None = None,
        quality: Mapping[str, str] | None = None,
        slot: datetime | None = None,
    ) -> None:
        """Publish values of a device, by the names of its points within it. Live, not recorded.

        ``quality`` names only what is not good. Raises ``Refused`` if publishing there is not
        granted.
        """
        body: dict[str, Any] = {"device": device, "time": moment(time or self.clock.now())}
        if slot is not None:
            body["slot"] = moment(slot)
        body["points"] = values
        if quality:
            body["quality"] = quality
        await self._emit(subject("live.scan.", device), _json.encode(body), f"publish {device}")

    async def send(self, topic: str, body: Any = None, headers: Headers | None = None) -> None:
        """Send a message to whoever listens to the topic now. Bytes are sent as they are."""
        data = bytes(body) if isinstance(body, (bytes, bytearray)) else _json.encode(body)
        if headers:
            try:
                encode_headers(headers)
            except ValueError as e:
                raise Invalid(str(e)) from None
        to = subject(f"msg.{token(self.name)}.", topic)
        await self._emit(to, data, f"publish {topic}", headers)

    async def _emit(self, to: str, data: bytes, missing: str, headers: Headers | None = None) -> None:
        self._raise_late()
        self._transport.publish(to, data, "", headers)
        if self._may_publish.admits(to):
            await self._transport.drain()
        elif not await self._transport.confirm("publish", to):
            raise Refused(f"missing: {missing}", missing=missing)

    async def ready(self) -> None:
        """Wait until the node knows all subscriptions made so far."""
        await self._transport.confirm("subscription", "")
        self._raise_late()

    # -- recorded

    async def record(
        self,
        samples: Mapping[str, Value] | Iterable[Sample],
        *,
        key: str | None = None,
        units: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> int:
        """Record samples; returns their number when the node's disk has them.

        A mapping is values by point, of this moment. ``units`` are those of points, by their paths. Up
        to 10,000 samples are accepted all or not at all; more go in several requests. With a ``key`` a
        repeat of the same call is harmless: what was accepted before is not recorded twice. Raises
        ``Refused`` or ``Invalid`` with ``problems`` for each sample that cannot be recorded,
        ``Timeout`` if the outcome is unknown.
        """
        self._raise_late()
        rows = self._rows(samples, units or {})
        accepted = 0
        for begin in range(0, len(rows), BATCH):
            ask: dict[str, Any] = {"samples": rows[begin : begin + BATCH]}
            if key is not None:
                ask["key"] = key if len(rows) <= BATCH else f"{key}/{begin}"
            answer = await self.request("node", "record", (), ask, timeout=timeout)
            accepted += int(answer.get("accepted", 0)) if isinstance(answer, dict) else 0
        return accepted

    def _rows(
        self, samples: Mapping[str, Value] | Iterable[Sample], units: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        if isinstance(samples, Mapping):
            now = self.clock.now()
            samples = [Sample(point, value, now) for point, value in samples.items()]
        return [
            {"point": s.point, "time": moment(s.time), "value": s.value, "quality": s.quality}
            | ({"unit": units[s.point]} if s.point in units else {})
            for s in samples
        ]

    def recorder(
        self,
        *,
        limit: int = 100_000,
        delay: float = 0.2,
        patience: float = 30.0,
        units: Mapping[str, str] | None = None,
    ) -> Recorder:
        """Return a recorder that gathers samples and repeats until the node has them.

        ``units`` are those of points, by their paths, such as ``{"analysis/load": "kW"}``.
        """
        return Recorder(self, limit=limit, delay=delay, patience=patience, units=units)

    # -- requests

    async def call(
        self, agent: str, method: str, /, *args: Any, timeout: float = TIMEOUT, **kwargs: Any
    ) -> Any:
        """Call a method of another agent and return its result; ``timeout`` is in seconds.

        An agent of another node is written ``"plant-1/boiler"``; ``"plant-1/node"`` is that node
        itself.

        Raises ``Refused``, ``Unreachable`` (at once if the agent is not there), ``Timeout``,
        ``NotFound``, ``Invalid`` (an argument has the wrong type) or ``RemoteError``.
        """
        return await self.request(agent, method, args, kwargs, timeout=timeout)

    async def request(
        self,
        agent: str,
        method: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        timeout: float = TIMEOUT,
    ) -> Any:
        """Call as ``call`` does, with the arguments as values: they may have any name."""
        if "/" in agent:
            return await self._far(agent, method, args, kwargs or {}, timeout)
        body = _call.ask(args, kwargs or {})
        try:
            raw = await self._transport.request(self._rpc(agent, method), body, timeout)
        except Refused:
            missing = f"call {agent}:{method}"
            raise Refused(f"missing: {missing}", missing=missing) from None
        except (Unreachable, Timeout) as e:
            raise type(e)(e.message, subject=e.subject or f"{agent}:{method}") from None
        return _call.answered(raw)

    async def notify(self, agent: str, method: str, /, *args: Any, **kwargs: Any) -> None:
        """Call a method without waiting: nobody tells whether it was carried out."""
        to = self._rpc(agent, method)
        await self._emit(to, _call.ask(args, kwargs), f"call {agent}:{method}")

    async def node(self, method: str, **kwargs: Any) -> Any:
        """Call a method of the node itself."""
        return await self.request("node", method, (), kwargs)

    async def inspect(self, agent: str) -> list[Method]:
        """Return the methods of an agent."""
        answer = await self.call(agent, "inspect")
        try:
            return msgspec.convert(answer, list[Method])
        except msgspec.ValidationError as e:
            raise Corrupt(f"the answer cannot be read: {e}", subject=agent) from None

    async def ping(self, agent: str, *, timeout: float = TIMEOUT) -> None:
        """Return if the agent answers; raises ``Unreachable`` or ``Timeout`` otherwise."""
        await self.call(agent, "ping", timeout=timeout)

    async def peers(self) -> list[Peer]:
        """Return the agents that the node knows, and how they are."""
        answer = await self.node("peers")
        if isinstance(answer, dict):
            answer = answer.get("peers", [])
        return msgspec.convert(answer, list[Peer])

    def pause(self) -> None:
        """Let requests wait until ``admit``, except ping and inspect."""
        self._methods.open.clear()

    def admit(self) -> None:
        """Answer requests."""
        self._methods.open.set()

    def offer(self, name: str, function: Callable[..., Any], *needs: str) -> None:
        """Let others call a function under a name; ``needs`` are capabilities they must hold."""
        self._methods.add(Served(name, function, tuple(needs)))

    def _rpc(self, agent: str, method: str) -> str:
        to = self._subjects_of.get((agent, method))
        if to is None:
            to = f"rpc.{token(agent)}.{token(self.name)}.{token(method)}"
            if len(self._subjects_of) < 4096:
                self._subjects_of[agent, method] = to
        return to

    # -- what people should know

    async def health(self, status: str, context: Any = None, interval: float = 0) -> None:
        """Tell how this agent is: good, bad, starting or unknown; ``interval`` is in seconds.

        After three intervals without another word the node calls the agent silent.
        """
        body = {"status": status, "context": context, "interval": interval}
        await self._emit(f"msg.{token(self.name)}.health", _json.encode(body), "publish health")

    async def alert(self, key: str, text: str, severity: str = "warning") -> None:
        """Raise an alert, which stays open until ``clear``; raising it again changes its text.

        ``severity`` is info, warning or critical.
        """
        if severity not in ("info", "warning", "critical"):
            raise Invalid("a severity is info, warning or critical", subject=repr(severity))
        since = self._alerts[key].since if key in self._alerts else self.clock.now()
        self._alerts[key] = Alert(key, text, severity, since)
        await self._tell_alert(self._alerts[key])

    async def clear(self, key: str) -> None:
        """Clear an alert; nothing happens if there is none."""
        self._alerts.pop(key, None)
        body = _json.encode({"key": key, "cleared": True})
        await self._emit(self._alert_subject(key), body, f"publish alert/{key}")

    async def _tell_alert(self, alert: Alert) -> None:
        body = {"key": alert.key, "text": alert.text, "severity": alert.severity}
        if alert.since is not None:
            body["since"] = moment(alert.since)
        await self._emit(
            self._alert_subject(alert.key), _json.encode(body), f"publish alert/{alert.key}"
        )

    def _alert_subject(self, key: str) -> str:
        if not key:
            raise Invalid("an alert needs a key, by which it is cleared later")
        return subject(f"msg.{token(self.name)}.alert.", key)

    # -- the connection's news

    @property
    def connected(self) -> bool:
        """Whether messages get through now."""
        return self._transport.connected

    @property
    def dropped(self) -> int:
        """How many live messages were not sent because the connection was down."""
        return self._transport.dropped

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have a function called after each connect and each change of the own standing."""
        self._changed.append(callback)

    async def _greet(self) -> None:
        answer = await self.request(
            "node",
            "hello",
            (),
            {
                "sdk": "python",
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "version": __version__,
            },
        )
        if isinstance(answer, dict):
            self.node_name = str(answer.get("node", ""))
            self._stand(answer.get("standing"))
        if self.dropped > self._told:
            log.warning("live messages were not sent", extra={"dropped": self.dropped - self._told})
            self._told = self.dropped
        if self._alerts:
            self.spawn(self._repeat_alerts(), "repeat alerts")

    async def _repeat_alerts(self) -> None:
        for alert in list(self._alerts.values()):
            with contextlib.suppress(Error):
                await self._tell_alert(alert)

    async def refresh(self) -> Standing:
        """Ask the node what this agent may do; at most once a second."""
        now = asyncio.get_running_loop().time()
        if now - self._refreshed >= 1 or not self._refreshed:
            self._refreshed = now
            self._stand(await self.node("standing"))
        return self.standing

    def _stand(self, answer: Any) -> None:
        try:
            self.standing = msgspec.convert(_filled(answer or {}), Standing)
        except msgspec.ValidationError as e:
            raise Corrupt(f"the node's standing cannot be read: {e}") from None
        grants = self.standing.grants
        self._may_publish = Fence(publish_subjects(self.name, grants))
        self._may_subscribe = Fence(subscribe_subjects(self.name, grants))
        for callback in self._changed:
            callback()

    def _on_news(self, raw: Raw) -> None:
        kind = raw.subject.rpartition(".")[2]
        if kind == "stop":
            self.stopping.set()
        elif kind == "standing":
            self._refreshed = 0.0
            self.spawn(self.refresh(), "standing")
        elif kind == "config":
            self.documents.on_news(raw.data)
        elif kind == "alert":
            self._on_cleared(raw.data)

    def _on_cleared(self, data: bytes) -> None:
        """Say of an alert that a person wants to be over: it lasts, or it is over."""
        try:
            news = _json.decode(data)
        except Invalid:
            return
        key = str(news.get("key", "")) if isinstance(news, dict) else ""
        if not key:
            return
        alert = self._alerts.get(key)
        again = self._tell_alert(alert) if alert is not None else self.clear(key)
        self.spawn(again, "say whether an alert lasts")

    def _on_refused(self, kind: str, to: str) -> None:
        missing = capability(kind, to)
        refused = Refused(f"missing: {missing}", missing=missing)
        streams = self._subjects.pop(to, []) if kind == "subscription" else []
        for stream in streams:
            stream.close(refused)
        if not streams:
            self._late = refused
        log.warning("the node refused", extra={"missing": missing, "subject": to})
        if self.on_error is not None:
            self.on_error(refused)

    def _on_down(self, why: str) -> None:
        log.warning("the connection to the node is down", extra={"err": why})

    def _raise_late(self) -> None:
        late, self._late = self._late, None
        if late is not None:
            raise late

    # -- what the methods need

    def respond(self, raw: Raw, data: bytes) -> None:
        """Answer a request."""
        if raw.reply:
            self._transport.publish(raw.reply, data)

    def note_refusal(self, method: str, caller: str, missing: str, args: dict[str, Any]) -> None:
        """Tell the node of a refusal, for its audit log."""
        try:
            body = _call.ask((), {"method": method, "from": caller, "missing": missing, "args": args})
        except Invalid:
            body = _call.ask((), {"method": method, "from": caller, "missing": missing})
        self._transport.publish(self._rpc("node", "refused"), body)

    def spawn(self, job: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run a job beside; it ends with the bus at the latest, and its error is logged."""

        task = asyncio.get_running_loop().create_task(job, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (e := task.exception()) is not None:
            known = isinstance(e, Error)
            log.warning(
                "a job failed",
                extra={"job": task.get_name(), "err": str(e)},
                exc_info=None if known else e,
            )


def connect(
    address: str | None = None,
    *,
    name: str | None = None,
    ca: str | Path | None = None,
    key: str | Path | None = None,
    data: str | Path | None = None,
) -> Bus:
    """Return a bus to use with ``async with``; that connects.

    What is not given comes from ``data``, the data directory of a node on this machine, or from
    ``VOLTBUS_BUS``, ``VOLTBUS_CA``, ``VOLTBUS_KEY`` and ``VOLTBUS_AGENT``. Entering the block raises
    ``Unreachable``, ``Refused`` for a key that the node does not know, or ``Conflict`` if another
    program uses the name.

    >>> async with voltbus.connect(data="data", name="watch") as bus:  # doctest: +SKIP
    ...     print(await bus.latest("demo/plant/**"))
    """
    place = _place.find(address, name=name, ca=ca, key=key, data=data)
    return Bus(Connection(place.address, place.name, place.trust(), place.secret()), place.name)


def _filled(value: Any) -> Any:
    """Return the value without what is null: there the defaults hold."""
    if isinstance(value, dict):
        return {k: _filled(v) for k, v in value.items() if v is not None}
    return [_filled(v) for v in value] if isinstance(value, list) else value
