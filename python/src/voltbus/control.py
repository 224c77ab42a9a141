"""Read and command devices: priority levels, leases that renew themselves, reservations."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec

from ._asking import Asking
from ._history import moment
from ._json import value_of
from .errors import Corrupt, Error, Invalid, NotFound, Refused, of_kind
from .model import Fence, Holder, Value

__all__ = ["Holder", "Reading", "Window", "Written"]

WAIT = 5.0  # seconds that the node waits for devices, if nothing else is said


class Problem(msgspec.Struct, frozen=True):
    """Why a command was refused or not carried out, or a point not read."""

    kind: str
    message: str
    why: str = ""
    missing: str = ""
    holders: list[Holder] = []

    def error(self, subject: str = "") -> Error:
        """Return it as the exception of its kind."""
        kind = of_kind(self.kind)
        if kind is Refused:
            e: Error = Refused(self.message, subject=subject, missing=self.missing)
        else:
            e = kind(self.message, subject=subject)
        e.why, e.holders = self.why, tuple(self.holders)
        return e


class Reading(msgspec.Struct, frozen=True):
    """A point as its device says it now; with an ``error`` it could not be read."""

    point: str
    value: Value = None
    quality: str = "good"
    time: datetime | None = None
    error: Problem | None = None


class Written(msgspec.Struct, frozen=True):
    """What became of a command.

    ``status`` is accepted, pending (a second person must agree), refused, or failed (the device
    said no, for now or for good: the command is gone, and its level is as it was before).
    ``output`` is what is known of the point: writing, waiting (a rate, a minimum time or a pause
    holds the command back until ``later``), held (the device reports the value), differs (the
    device took the command and reports another value), mismatch (the point lost the value),
    failed, unknown.
    ``wins`` is False while a more urgent command holds the point.
    """

    id: str
    point: str
    status: str
    wins: bool = False
    until: datetime | None = None
    later: datetime | None = None
    repeat: bool = False
    output: str = ""
    reported: Value = None
    error: Problem | None = None


class Results(msgspec.Struct, frozen=True):
    results: list[Written]


class Readings(msgspec.Struct, frozen=True):
    readings: list[Reading]


class _Reverted(msgspec.Struct, frozen=True):
    points: int


class Window(msgspec.Struct, frozen=True):
    """A point, device or branch for a time; without ``start`` from now, ``end`` is not in it."""

    path: str
    end: datetime
    start: datetime | None = None


class Control(Asking):
    """The part of a bus that commands devices, as far as ``command`` is granted."""

    name: str

    async def get(self, points: Iterable[str], *, node: str = "") -> list[Reading]:
        """Read points from their devices now, each answered by itself, in order.

        With ``node`` points of that node, as it names them; so in the other methods.
        """
        answer = await self.request(_callee(node), "get", (), {"points": list(points)}, timeout=120)
        found = _convert(answer, Readings).readings
        return [msgspec.structs.replace(r, value=value_of(r.value)) for r in found]

    async def write(  # noqa: PLR0913 - as a command is
        self,
        point: str,
        value: Value,
        *,
        level: int = 16,
        lease: float = 0,
        reason: str = "",
        task: str = "",
        id: str = "",
        fence: Fence | None = None,
        wait: float = WAIT,
        node: str = "",
    ) -> Written:
        """Set a point, and wait up to ``wait`` seconds for what its device says.

        The command holds its ``level`` (1, the most urgent, to 16) until it is released, or its
        ``lease``, in seconds, ends. A repeat with the same ``id`` gets the first answer. Raises what
        refused it (``Refused``, ``Conflict`` with ``holders``, ``Invalid``, ``NotFound``), or why
        the device did not take it. If ``why`` of the exception is "declined", the device said no, or
        is busy: the command is gone, and what was commanded before stays. Else the device was not
        reached, and the node tries again while the command holds: then, as with ``Timeout``, release
        what is not wanted any more.

        With a ``fence`` it is the command of the leader of a group: refused with ``why`` "fenced" once
        a leader of a later term commanded anything at the node, whose fence is in ``holders``.
        """
        ask = _command(point, value, level, lease, reason, task, id, fence) | {"wait": wait}
        answer = await self.request(_callee(node), "set", (), ask, timeout=wait + 10)
        done: Written = _convert(answer, Written)
        if done.error is not None:
            raise done.error.error(point)
        return msgspec.structs.replace(done, reported=value_of(done.reported))

    async def write_many(  # noqa: PLR0913 - as a command is
        self,
        values: Mapping[str, Value],
        *,
        level: int = 16,
        lease: float = 0,
        reason: str = "",
        task: str = "",
        id: str = "",
        fence: Fence | None = None,
        wait: float = WAIT,
        node: str = "",
    ) -> list[Written]:
        """Set up to 10,000 points at once, in order, each answered by itself: see ``error``."""
        commands = [
            _command(p, v, level, lease, reason, task, f"{id}/{i}" if id else "", fence)
            for i, (p, v) in enumerate(values.items())
        ]
        if not commands:
            return []
        ask = {"commands": commands, "wait": wait}
        answer = await self.request(_callee(node), "set_many", (), ask, timeout=wait + 60)
        done = _convert(answer, Results).results
        return [msgspec.structs.replace(w, reported=value_of(w.reported)) for w in done]

    async def release(self, point: str = "", *, task: str = "", id: str = "", node: str = "") -> None:
        """End own commands: of a point, device or branch, a task, an id; without any, all.

        All is everything, reservations included.
        """
        ask: dict[str, Any] = {"point": point, "task": task, "id": id}
        ask = {k: v for k, v in ask.items() if v} or {"all": True}
        await self.request(_callee(node), "release", (), ask)

    async def revert(self, path: str, *, spread: float = 0, node: str = "") -> int:
        """End every command of a point, device or branch, whoever made it.

        Return how many points go back. With ``spread``, in seconds, they do so one after the other,
        the first at once. What is commanded after the revert stays. It needs ``administer``;
        ``NotFound`` says that nothing is commanded there.
        """
        answer = await self.request(_callee(node), "revert", (), {"path": path, "spread": spread})
        done: _Reverted = _convert(answer, _Reverted)
        return done.points

    async def renew(self, point: str = "", *, id: str = "", lease: float = 0) -> None:
        """Let own leases begin anew, of ``lease`` seconds or as long as each was.

        Without a point or id all of them. ``NotFound`` says that they have ended.
        """
        ask: dict[str, Any] = {"point": point, "id": id, "lease": lease}
        await self.request("node", "renew", (), {k: v for k, v in ask.items() if v})

    @contextlib.asynccontextmanager
    async def holding(
        self, point: str, value: Value, *, lease: float = 60, level: int = 16, reason: str = ""
    ) -> AsyncIterator[Written]:
        """Set a point for as long as the block runs.

        The lease is renewed three times in its length, so that the point is given back also when
        this program dies. If the lease is lost, the block is cancelled, and why is raised.
        """
        if lease < 1:
            raise Invalid("the lease of a point that is held has a second at least", subject=point)
        done = await self.write(point, value, lease=lease, level=level, reason=reason)
        block = asyncio.current_task()
        lost: list[Error] = []
        renewing = asyncio.ensure_future(self._renewing(done.id, lease, block, lost))
        try:
            yield done
        except asyncio.CancelledError:
            if not lost:
                raise
            raise lost[0] from None
        finally:
            renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await renewing
            with contextlib.suppress(NotFound):
                await self.release(id=done.id)

    async def _renewing(
        self, id: str, lease: float, block: asyncio.Task[Any] | None, lost: list[Error]
    ) -> None:
        loop = asyncio.get_running_loop()
        ends = loop.time() + lease
        while True:
            await asyncio.sleep(lease / 3)
            asked = loop.time()
            try:
                await self.request("node", "renew", (), {"id": id}, timeout=lease / 3)
            except Error as e:
                if isinstance(e, (NotFound, Refused)) or loop.time() >= ends:
                    lost.append(e)
                    if block is not None:
                        block.cancel()
                    return
            else:
                ends = asked + lease

    @contextlib.asynccontextmanager
    async def reserve(
        self,
        task: str,
        windows: Sequence[Window | str],
        *,
        length: float = 3600,
        priority: str = "low",
        reason: str = "",
    ) -> AsyncIterator[str]:
        """Reserve points, devices or branches, all or none, until the block ends.

        A path alone is reserved from now for ``length`` seconds. The priority ``high`` takes the
        place of others, ``low`` gives way until it begins, ``low-preempt`` always gives way. Raises
        ``Conflict`` with ``holders``: who stands in the way, and when.
        """
        now = datetime.now(timezone.utc)
        rows = []
        for one in windows:
            w = Window(one, now + timedelta(seconds=length)) if isinstance(one, str) else one
            row = {"path": w.path, "to": moment(w.end)}
            if w.start is not None:
                row["from"] = moment(w.start)
            rows.append(row)
        ask = {"task": task, "windows": rows, "priority": priority, "reason": reason}
        await self.request("node", "reserve", (), ask)
        try:
            yield task
        finally:
            with contextlib.suppress(NotFound):
                await self.request("node", "cancel", (), {"task": task})

    async def who(self, path: str) -> dict[str, Any]:
        """Return who holds a point, device or branch: ``points``, ``tasks`` and ``overrides``."""
        answer = await self.request("node", "who", (), {"path": path})
        return dict(answer)

    async def schedule(self, path: str = "") -> list[dict[str, Any]]:
        """Return the reservations that touch a path now or later."""
        answer = await self.request("node", "schedule", (), {"path": path} if path else {})
        return list(answer["tasks"])


def _callee(node: str) -> str:
    return f"{node}/node" if node else "node"


def _command(  # noqa: PLR0913, PLR0917 - as a command is
    point: str,
    value: Value,
    level: int,
    lease: float,
    reason: str,
    task: str,
    id: str,
    fence: Fence | None,
) -> dict[str, Any]:
    row: dict[str, Any] = {"point": point, "value": value, "level": level}
    more: dict[str, Any] = {"lease": lease, "reason": reason, "task": task, "id": id}
    more["fence"] = msgspec.to_builtins(fence)
    return row | {k: v for k, v in more.items() if v}


def _convert(answer: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as e:
        raise Corrupt(f"the answer cannot be read: {e}") from None
