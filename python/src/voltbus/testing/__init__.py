"""Test agents in milliseconds: a node in memory, and a clock that does not wait.

::

    from voltbus.testing import Node, virtual

    @virtual
    async def test_a_hot_boiler_raises_an_alert() -> None:
        async with Node() as node:
            agent = await node.run(Watch())
            node.scan("demo/plant/boiler", {"supply_temp": 95.0})
            await node.settle()
            assert ("watch", "too-hot") in node.alerts

The node enforces grants as a real one does: an agent runs with what it ``wants``, or with the grants
that the test gives it. In virtual time a sleep of a day ends at once, after all that is due before
it: ``await asyncio.sleep(86400)`` lets a day of schedules pass.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime, timezone
from typing import Any

from .. import _json
from .._history import moment
from .._protocol import Raw
from .._run import Runner, _opened
from ..agent import Agent
from ..bus import Bus
from ..clock import LoopClock
from ..grant import Grants
from ..model import Alert, Sample, Value
from ..path import check_name, subject
from ._loop import VirtualLoop, run, virtual
from ._node import NodeMethods
from ._server import MemoryTransport, Server

__all__ = ["MemoryTransport", "Node", "Runner", "VirtualLoop", "run", "virtual"]

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


class Node:
    """A node in memory. Use it with ``async with``: all that runs on it ends with the block."""

    def __init__(self, *, start: datetime = START, name: str = "memory") -> None:
        self._server = Server()
        self._start = start
        self._name = name
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Node:
        self.clock = LoopClock(self._start)
        self._methods = NodeMethods(self._server, self.clock.now, self._name)
        observe = self._server.route

        def route(message: Raw) -> bool:
            self._methods.hear(message)
            return observe(message)

        self._server.route = route  # type: ignore[method-assign]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    # -- agents

    async def connect(self, name: str, grants: Grants | None = None) -> Bus:
        """Return an open connection; ``grants`` are those that it had before, or none."""
        self.register(name, grants)
        bus = Bus(MemoryTransport(self._server, name), name, clock=self.clock)
        await self._stack.enter_async_context(bus)
        return bus

    async def run(self, agent: Agent[Any], *, name: str = "", grants: Grants | None = None) -> Runner:
        """Run an agent, with what it wants unless other grants are given."""
        name = name or type(agent).__name__.lower()
        self.register(name, agent.wants if grants is None else grants)
        bus = Bus(MemoryTransport(self._server, name), name, clock=self.clock)
        runner = Runner(agent, bus)
        await bus.__aenter__()
        await self._stack.enter_async_context(_opened(runner, bus))
        return runner

    def register(self, name: str, grants: Grants | None = None) -> None:
        """Make an agent known, as ``voltbus agent register`` does."""
        check_name(name)
        if grants is not None or name not in self._server.keys:
            self.grant(name, grants or Grants())

    def grant(self, name: str, grants: Grants) -> None:
        """Replace what an agent may do, at once, also on its open connection."""
        problems = grants.check()
        if problems:
            raise ValueError("; ".join(problems))
        self._server.keys[name] = grants
        member = self._server.members.get(name)
        if member is not None:
            member.regrant()
        for other in self._server.members:
            self._methods.tell(other, "standing")

    def stop(self, name: str) -> None:
        """Ask an agent to end."""
        self._methods.tell(name, "stop")

    def cut(self) -> None:
        """Break all connections, as a restart of the node does."""
        self._server.cut()

    async def restore(self) -> None:
        """Let all connections come back."""
        await self._server.restore()

    # -- devices

    def scan(
        self,
        device: str,
        values: dict[str, Value],
        *,
        quality: dict[str, str] | None = None,
    ) -> None:
        """Report values as a device does."""
        now = self.clock.now()
        body = {"device": device, "time": moment(now), "points": values}
        if quality:
            body["quality"] = quality
        for name, value in values.items():
            good = (quality or {}).get(name, "good")
            self._methods.control.reported[f"{device}/{name}"] = (value, good, now)
        self._server.route(Raw(subject("live.scan.", device), "", b"", _json.encode(body)))

    def writable(self, values: dict[str, Value]) -> None:
        """Have points that can be commanded, with what they are when nobody commands them."""
        self._methods.control.defaults |= values

    def commanded(self, point: str) -> Value:
        """Return what a point is set to now."""
        return self._methods.control.value(point)

    def reject(self, point: str, text: str = "illegal value") -> None:
        """Have the device of a point refuse commands with a text; ``""`` has it take them again.

        As on a node, such a command ends with the status failed, and what stood before stays.
        """
        self._methods.control.rejects.pop(point, None)
        if text:
            self._methods.control.rejects[point] = text

    def drift(self, point: str, value: Value) -> None:
        """Have a point change at its device, behind the node's back.

        While it is commanded it has the output mismatch, until it is commanded anew, released, or
        has what it should have. The node in memory does not assert it.
        """
        self._methods.control.drift(point, value)

    def hold_back(self, point: str, *, held: bool = True) -> None:
        """Have a rate, a minimum time, a pause or an override hold back what a point is commanded.

        Commands are accepted with the output waiting, and the point reports what it had, until
        ``held=False`` lets the device take what wins then.
        """
        self._methods.control.hold_back(point, held)

    def raw(self, to: str, data: bytes) -> None:
        """Put bytes on the bus."""
        self._server.route(Raw(to, "", b"", data))

    def record(self, point: str, value: Value, time: datetime | None = None) -> None:
        """Have a sample in the history."""
        self._methods.recorded.append(Sample(point, value, time or self.clock.now()))

    # -- documents

    def set_document(
        self, owner: str, name: str, content: Any = None, *, text: str = "", type: str = "json"
    ) -> None:
        """Write a document of an agent, as a person does; ``owner`` is its name, or shared."""
        written = text or _json.encode(content).decode()
        self._methods.write(_owner(owner), name, written, type=type)

    def delete_document(self, owner: str, name: str) -> None:
        """Delete a document, as a person does."""
        self._methods.erase(_owner(owner), name)

    def clear_alert(self, agent: str, key: str) -> None:
        """Clear an alert, as a person does; the agent raises it again if it lasts."""
        if self._methods.alerts.pop((agent, key), None) is not None:
            self._methods.tell(agent, "alert", {"key": key})

    # -- what happened

    async def settle(self) -> None:
        """Wait until everything sent so far is done, without time passing noticeably."""
        await asyncio.sleep(0.001)

    @property
    def recorded(self) -> list[Sample]:
        """All samples that were recorded."""
        return self._methods.recorded

    @property
    def alerts(self) -> dict[tuple[str, str], Alert]:
        """The open alerts, by agent and key."""
        return self._methods.alerts

    @property
    def health(self) -> dict[str, dict[str, Any]]:
        """What each agent last said of its health."""
        return self._methods.health

    @property
    def refusals(self) -> list[dict[str, Any]]:
        """What agents refused to others."""
        return self._methods.refusals

    @property
    def violations(self) -> list[tuple[str, str, str]]:
        """What the bus refused: agent, publish or subscription, subject."""
        return self._server.violations


def _owner(name: str) -> str:
    return name if name == "shared" or "/" in name else f"agent/{name}"
