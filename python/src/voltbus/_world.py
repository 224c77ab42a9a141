"""The agents of a site in a world whose clock another program keeps (``voltbus world``).

That program writes one JSON object a line, and gets one back for each: first the site, then moments
with what arrived until then. The answer comes when all agents have nothing left to do at that moment.
Times are integers of nanoseconds since the start of the world.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from typing import Any, BinaryIO

import msgspec

from ._patience import Limit
from ._protocol import Raw
from ._realtime import Calls
from .agent import Agent
from .errors import Error
from .model import Value
from .testing import Node, Runner, VirtualLoop
from .testing._loop import finish

__all__ = ["serve"]

SECOND = 1_000_000_000


class AgentOf(msgspec.Struct):
    """An agent of the site."""

    name: str
    kind: str = msgspec.field(name="class")
    config: Any = None


class Site(msgspec.Struct):
    """What the process begins with."""

    site: str
    start: datetime
    agents: list[AgentOf]
    path: list[str] = []
    writable: dict[str, Value] = {}
    seed: int = 0
    patience: float = 0.0  # seconds of real time that a moment may take; 0 for any


class Scan(msgspec.Struct):
    """Values of a device."""

    device: str
    points: dict[str, Value]
    quality: dict[str, str] = {}
    recorded: bool = False


class Message(msgspec.Struct):
    """A message of an agent or a scan, from here or from another site."""

    subject: str
    data: bytes
    head: bytes = b""


class Moment(msgspec.Struct):
    """Up to when to run, and what has arrived."""

    to: int
    scans: list[Scan] = []
    messages: list[Message] = []


class Held(msgspec.Struct):
    """A command that stands from now on, or no longer if its value is None."""

    agent: str
    point: str
    level: int
    value: Value | None


class Answer(msgspec.Struct, omit_defaults=True):
    """What happened until the moment."""

    next: int | None = None  # when the next timer is due
    commands: dict[str, Value] = {}  # points that are set to another value now
    held: list[Held] = []
    messages: list[Message] = []
    alerts: list[dict[str, Any]] = []
    wants: list[str] | None = None  # subjects that the agents listen to, if they changed
    told: list[str] = []  # calls that do not follow the clock
    error: str = ""
    late: str = ""  # the line at which agents wait in real time; the process ends


class Host:
    """The node of a site in memory, with its agents."""

    def __init__(self, loop: VirtualLoop, site: Site, calls: Calls) -> None:
        self._loop = loop
        self._site = site
        self._calls = calls
        self._node = Node(start=site.start.astimezone(timezone.utc), name=site.site)
        self._values = dict(site.writable)
        self._messages: list[Message] = []
        self._wants: list[str] = []
        self._held: dict[tuple[str, str, int], Value] = {}
        self._alerts: set[tuple[str, str]] = set()
        self._arriving = False

    async def begin(self) -> None:
        """Start the node and its agents."""
        await self._node.__aenter__()
        self._node.writable(dict(self._site.writable))
        route = self._node._server.route

        def observe(message: Raw) -> bool:
            if not self._arriving and _leaves(message.subject):
                self._messages.append(Message(message.subject, message.data, message.head))
            return route(message)

        self._node._server.route = observe  # type: ignore[method-assign]
        for one in self._site.agents:
            await self._start(one)

    async def _start(self, one: AgentOf) -> Runner:
        kind = load(one.kind)
        self._node.register(one.name, kind.wants)
        if one.config is not None:
            self._node.set_document(one.name, "config", one.config)
        return await self._node.run(kind(), name=one.name)

    async def end(self) -> None:
        """End the agents."""
        await self._node.__aexit__()

    def advance(self, moment: Moment) -> Answer:
        """Let what arrived arrive, and run up to the moment."""
        if moment.to / SECOND < self._loop.time() - 1e-6:
            raise ValueError("the clock of a world does not run backwards")
        self._loop.advance(moment.to / SECOND)  # what was due before comes before
        if moment.scans or moment.messages:
            self._loop.call_soon(self._arrive, moment)
        return self.look(self._loop.advance(moment.to / SECOND))

    def _arrive(self, moment: Moment) -> None:
        self._arriving = True
        for scan in moment.scans:
            self._node.scan(scan.device, scan.points, quality=scan.quality)
            if scan.recorded:
                for name, value in scan.points.items():
                    self._node.record(f"{scan.device}/{name}", value)
        for m in moment.messages:
            self._node._server.route(Raw(m.subject, "", m.head, m.data))
        self._arriving = False

    def look(self, due: float) -> Answer:
        """Return what happened since the last look."""
        answer = Answer(messages=self._messages, told=self._calls.take())
        self._messages = []
        control = self._node._methods.control
        for point, before in self._values.items():
            value = control.value(point)
            if value != before:
                self._values[point] = answer.commands[point] = value
        held = control.standing()
        if held != self._held:
            ended = [Held(*key, None) for key in self._held if key not in held]
            begun = [Held(*k, v) for k, v in held.items() if self._held.get(k) != v]
            answer.held, self._held = ended + begun, held
        end = control.next_end()
        if end is not None:
            due = min(due, (end - self._site.start).total_seconds())
        if due < math.inf:
            answer.next = math.ceil(due * SECOND)
        members = self._node._server.members.values()
        wants = sorted({s.subject for m in members for s in m.subs if _leaves(s.subject)})
        if wants != self._wants:
            self._wants = answer.wants = wants
        self._tell_alerts(answer)
        return answer

    def _tell_alerts(self, answer: Answer) -> None:
        now = set(self._node.alerts)
        for agent, key in sorted(now - self._alerts):
            text = self._node.alerts[agent, key].text
            answer.alerts.append({"agent": agent, "key": key, "text": text})
        for agent, key in sorted(self._alerts - now):
            answer.alerts.append({"agent": agent, "key": key, "cleared": True})
        self._alerts = now


def _leaves(subject: str) -> bool:
    """Report whether other sites may hear what has this subject."""
    parts = subject.split(".", 3)
    if parts[0] == "msg" and len(parts) > 2:
        return parts[2] not in ("health", "alert")
    return parts[0] == "live"


def load(text: str) -> type[Agent[Any]]:
    """Return the class of an agent."""
    from .__main__ import load as find

    return find(text)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Serve until the source ends."""

    def answer(one: Answer) -> None:
        sink.write(msgspec.json.encode(one) + b"\n")
        sink.flush()

    calls = Calls()
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    try:
        site = msgspec.json.decode(source.readline(), type=Site)
        sys.path[:0] = site.path
        random.seed(f"{site.seed} {site.site}")
        host = Host(loop, site, calls)
        decoder = msgspec.json.Decoder(Moment)

        def late(where: str) -> None:
            answer(Answer(late=where or "somewhere", told=calls.take()))
            os._exit(1)

        limit = Limit(site.patience, late)
        with calls:
            going = _guard(answer, lambda: _begin(loop, host))
            while going and (line := source.readline()):
                moment = decoder.decode(line)
                going = _guard(answer, partial(_within, limit, host, moment))
        loop.run_until_complete(host.end())
    finally:
        finish(loop)


def _within(limit: Limit, host: Host, moment: Moment) -> Answer:
    with limit:
        return host.advance(moment)


def _begin(loop: VirtualLoop, host: Host) -> Answer:
    task = loop.create_task(host.begin())
    due = loop.advance(0.0)
    while not task.done() and due < math.inf:  # an agent whose start waits
        due = loop.advance(due)
    if not task.done():
        raise RuntimeError("the start of an agent does not end")
    task.result()
    return host.look(due)


def _guard(answer: Callable[[Answer], None], do: Callable[[], Answer]) -> bool:
    try:
        answer(do())
    except Error as e:
        answer(Answer(error=str(e)))
    except Exception as e:
        answer(Answer(error=f"{type(e).__name__}: {e}"))
    else:
        return True
    return False


def main() -> None:
    """Serve on standard input and output. What agents print goes to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, out)
