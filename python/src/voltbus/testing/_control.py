"""Control in memory: priority levels, leases, reservations. Devices answer at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from .._history import moment
from .._json import value_of
from ..errors import Conflict, Error, Invalid, NotFound, Refused
from ..grant import Grants
from ..model import Fence, Holder, Value
from ..path import Pattern


class _Slot(msgspec.Struct):
    requester: str
    id: str
    value: Value
    since: datetime
    lease: float
    ends: datetime | None
    reason: str
    task: str
    reverts: datetime | None = None
    fence: Fence | None = None


class _Task(msgspec.Struct):
    requester: str
    priority: str
    reason: str
    windows: list[tuple[str, datetime, datetime]]


def _covers(a: str, b: str) -> bool:
    return not a or a == b or b.startswith(a + "/")


class Control:
    """The part of a node in memory that decides about commands."""

    def __init__(self, now: Callable[[], datetime], grants: Callable[[str], Grants]) -> None:
        self._now = now
        self._grants = grants
        self._ids = itertools.count(1)
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}
        self._tasks: dict[str, _Task] = {}
        self._levels: dict[str, dict[int, _Slot]] = {}
        self._fences: dict[str, tuple[Fence, str]] = {}  # the newest of each group, and who used it
        self.defaults: dict[str, Value] = {}
        self.rejects: dict[str, str] = {}
        self.devices: dict[str, Value] = {}
        self.reported: dict[str, tuple[Value, str, datetime]] = {}  # by scans: value, quality, time
        self._held_back: dict[str, Value] = {}
        self._written: set[str] = set()
        self.handlers: dict[str, Callable[..., Any]] = {
            "get": self._get,
            "set": self._set,
            "set_many": self._set_many,
            "release": self._release,
            "revert": self._revert,
            "renew": self._renew,
            "reserve": self._reserve,
            "cancel": self._cancel,
            "who": self._who,
            "schedule": self._schedule,
        }

    def value(self, point: str) -> Value:
        """Return what a point is set to now."""
        levels = self._array(point)
        return levels[min(levels)].value if levels else self.defaults[point]

    def measured(self, point: str) -> Value:
        """Return what the device of a point says it is."""
        if point in self._held_back:
            return self._held_back[point]
        return self.devices.get(point, self.value(point))

    def standing(self) -> dict[tuple[str, str, int], Value]:
        """Return all commands that stand now: value by agent, point and level."""
        return {
            (slot.requester.removeprefix("agent:"), point, level): slot.value
            for point in list(self._levels)
            for level, slot in self._array(point).items()
        }

    def next_end(self) -> datetime | None:
        """Return when the next command or window ends or begins by itself."""
        now = self._now()
        ends = [
            t
            for levels in self._levels.values()
            for slot in levels.values()
            for t in (slot.ends, slot.reverts)
        ]
        ends += [t for task in self._tasks.values() for _, a, b in task.windows for t in (a, b)]
        return min((t for t in ends if t is not None and t > now), default=None)

    def hold_back(self, point: str, held: bool) -> None:
        """Have a device keep what it has, or take what is commanded."""
        if held:
            self._held_back.setdefault(point, self.measured(point))
        elif self._held_back.pop(point, None) is not None:
            self.devices.pop(point, None)

    def drift(self, point: str, value: Value) -> None:
        """Have a point change at its device."""
        self.devices[point] = value

    def _output(self, point: str) -> str:
        """Return what is known of a point."""
        if point in self._held_back and self.measured(point) != self.value(point):
            return "waiting"
        if self.measured(point) == self.value(point):
            return "held" if point in self._written else "idle"
        return "mismatch" if self._array(point) else "idle"

    def _array(self, point: str) -> dict[int, _Slot]:
        """Return the levels of a point that are still taken."""
        levels, now = self._levels.setdefault(point, {}), self._now()
        for level, slot in list(levels.items()):
            over = any(t is not None and t <= now for t in (slot.ends, slot.reverts))
            if over or (slot.task and not self._active(slot.task, point)):
                del levels[level]
        return levels

    def _active(self, name: str, point: str) -> bool:
        task, now = self._tasks.get(name), self._now()
        windows = task.windows if task else []
        return any(_covers(path, point) and begin <= now < end for path, begin, end in windows)

    def _may(self, by: str, point: str, level: int, value: Value) -> None:
        grants = self._grants(by)
        missing = f"command {point}@{level}"
        for c in grants.command:
            if Pattern(c.path).match(point) and level >= c.level:
                if isinstance(value, (int, float)) and not (
                    (c.min is None or value >= c.min) and (c.max is None or value <= c.max)
                ):
                    continue
                return
        if not grants.administer:
            raise Refused(f"missing: {missing}", missing=missing)

    def _get(self, by: str, points: list[str]) -> dict[str, Any]:
        grants, rows = self._grants(by), []
        for p in points:
            row: dict[str, Any] = {"point": p, "value": None, "quality": "bad", "time": None}
            commanded = any(Pattern(c.path).match(p) for c in grants.command)
            if not (commanded or grants.may_read(p)):
                row["error"] = {"kind": "refused", "message": "missing", "missing": f"read {p}"}
            elif p not in self.defaults and p in self.reported:
                value, quality, time = self.reported[p]
                row |= {"value": value, "quality": quality, "time": moment(time)}
            elif p not in self.defaults:
                row["error"] = {"kind": "not-found", "message": "no device has such a point"}
            else:
                row |= {"value": self.measured(p), "quality": "good", "time": moment(self._now())}
            rows.append(row)
        return {"readings": rows}

    def _set_many(self, by: str, commands: list[dict[str, Any]], wait: float = 0) -> dict[str, Any]:
        return {"results": [self._set(by, **c, wait=wait) for c in commands]}

    def _set(self, by: str, point: str, value: Any, id: str = "", wait: float = 0, **how: Any) -> Any:
        id = id or f"memory-{next(self._ids)}"
        before = self._answers.get((by, id))
        if before is not None:
            return before | {"repeat": True}
        out: dict[str, Any] = {"id": id, "point": point, "status": "refused", "wins": False}
        try:
            out |= self._accept(by, point, value_of(value), id, **how)
        except Error as e:
            holders = [msgspec.to_builtins(h) for h in e.holders]
            out["error"] = {"kind": e.kind, "message": e.message, "why": e.why, "holders": holders}
            out["error"]["missing"] = getattr(e, "missing", "")
        self._answers[by, id] = out
        return out

    def _accept(  # noqa: PLR0913, PLR0917 - as a command is
        self,
        by: str,
        point: str,
        value: Value,
        id: str,
        level: int = 16,
        lease: float = 0,
        reason: str = "",
        task: str = "",
        fence: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        if not 1 <= level <= 16:
            raise Invalid(f"there is no level {level}; write one from 1 (most urgent) to 16")
        self._may(by, point, level, value)
        if point not in self.defaults:
            raise NotFound("there is no such point; look it up in the list of points")
        told = _fence(fence)
        self._not_fenced(told)
        now = self._now()
        owner = next((n for n in self._tasks if self._active(n, point)), "")
        if owner and self._tasks[owner].requester != f"agent:{by}":
            raise _conflict("reserved", "it is reserved", self._holders(owner))
        if task and task != owner:
            raise Refused(f"the task {task!r} has no active window for it")
        levels = self._array(point)
        old = levels.get(level)
        succeeds = old is not None and _before(old.fence, told)
        if old is not None and old.requester != f"agent:{by}" and not owner and not succeeds:
            holder = Holder(old.requester, command=old.id, path=point, level=level, until=old.ends)
            raise _conflict("held", f"{old.requester} holds level {level}", [holder])
        ends = now + timedelta(seconds=lease) if lease else None
        if told is not None and self._term(told.group) < told.term:
            self._fences[told.group] = told, f"agent:{by}"
        if point in self.rejects and level <= min(levels, default=level):
            error = {"kind": "rejected", "message": self.rejects[point], "why": "declined"}
            return {"status": "failed", "output": "failed", "error": error}
        if level <= min(levels, default=level):
            self.devices.pop(point, None)
            self._written.add(point)
        levels[level] = _Slot(f"agent:{by}", id, value, now, lease, ends, reason, owner, fence=told)
        won = min(levels) == level
        out = {
            "status": "accepted",
            "wins": won,
            "output": self._output(point),
            "reported": self.measured(point),
        }
        return out | ({"until": moment(ends)} if ends else {})

    def _term(self, group: str) -> int:
        known = self._fences.get(group)
        return known[0].term if known else 0

    def _not_fenced(self, fence: Fence | None) -> None:
        newest = self._fences.get(fence.group) if fence is not None else None
        if newest is not None and _before(fence, newest[0]):
            text = f"a newer leader of {newest[0].group!r}, in term {newest[0].term}, commands here"
            raise _conflict("fenced", text, [Holder(newest[1], fence=newest[0])])

    def _chosen(self, by: str, point: str, id: str, task: str) -> list[tuple[str, int]]:
        return [
            (p, level)
            for p in list(self._levels)
            for level, s in self._array(p).items()
            if s.requester == f"agent:{by}"
            and (not point or p == point)
            and (not id or s.id == id)
            and (not task or s.task == task)
        ]

    def _release(
        self, by: str, point: str = "", id: str = "", task: str = "", all: bool = False
    ) -> dict[str, Any]:
        chosen = self._chosen(by, point, id, task)
        if not chosen and not all:
            raise NotFound(f"agent:{by} has no such command; it may have ended already", subject=point)
        for p, level in chosen:
            if level == min(self._levels[p]) and p not in self.rejects:
                self.devices.pop(p, None)  # what it goes back to is written
            del self._levels[p][level]
        if all:
            self._tasks = {n: t for n, t in self._tasks.items() if t.requester != f"agent:{by}"}
        return {"status": "accepted"}

    def _revert(self, by: str, path: str, spread: float = 0) -> dict[str, Any]:
        if not self._grants(by).administer:
            raise Refused("missing: administer", missing="administer", subject=path)
        points = sorted(
            p for p in list(self._levels) if self._array(p) and f"{p}/".startswith(f"{path}/")
        )
        if not points:
            raise NotFound("nothing is commanded at or below it", subject=path)
        last = self._now()
        for i, p in enumerate(points):
            at = self._now() + timedelta(seconds=spread * i / len(points))
            for level, slot in list(self._levels[p].items()):
                if at <= self._now():
                    del self._levels[p][level]
                elif slot.reverts is None or at < slot.reverts:
                    slot.reverts = last = at
        answer = {"status": "accepted", "points": len(points)}
        return answer | ({"until": moment(last)} if last > self._now() else {})

    def _renew(self, by: str, point: str = "", id: str = "", lease: float = 0) -> dict[str, Any]:
        chosen = [self._levels[p][n] for p, n in self._chosen(by, point, id, "")]
        chosen = [s for s in chosen if s.ends is not None]
        if not chosen:
            raise NotFound(f"agent:{by} has no such command with a lease; command the point again")
        for s in chosen:
            self._not_fenced(s.fence)
        for s in chosen:
            s.lease = lease or s.lease
            s.ends = self._now() + timedelta(seconds=s.lease)
        return {"status": "accepted"}

    def _holders(self, task: str) -> list[Holder]:
        t = self._tasks[task]
        return [Holder(t.requester, task, path=p, start=a, until=b) for p, a, b in t.windows]

    def _yields(self, task: _Task, priority: str) -> bool:
        started = any(begin <= self._now() for _, begin, _ in task.windows)
        return priority == "high" and (
            task.priority == "low-preempt" or (task.priority == "low" and not started)
        )

    def _reserve(
        self,
        by: str,
        task: str,
        windows: list[dict[str, str]],
        priority: str = "low",
        reason: str = "",
    ) -> dict[str, Any]:
        grants, now, asked = self._grants(by), self._now(), []
        for w in windows:
            path = w["path"]
            if not (grants.administer or any(Pattern(c.path).match(path) for c in grants.command)):
                raise Refused(f"missing: command {path}@16", missing=f"command {path}@16")
            begin = datetime.fromisoformat(w["from"].replace("Z", "+00:00")) if "from" in w else now
            end = datetime.fromisoformat(w["to"].replace("Z", "+00:00"))
            if end <= max(begin, now):
                raise Invalid("a window ends before it starts, or is over; choose another time")
            asked.append((path, begin, end))
        mine = self._tasks.get(task)
        if mine and (mine.requester, mine.priority, {w[0] for w in mine.windows}) == (
            f"agent:{by}",
            priority,
            {w[0] for w in asked},
        ):
            del self._tasks[task]  # an agent that has restarted asks once more for what it has
        elif mine:
            raise _conflict("task-exists", "a task of this name is there", self._holders(task))
        lost = [n for n in self._tasks if self._clash(asked, n)]
        standing = [n for n in lost if not self._yields(self._tasks[n], priority)]
        if standing:
            raise _conflict("conflict", "it is reserved", self._holders(standing[0]))
        for n in lost:
            del self._tasks[n]
        self._tasks[task] = _Task(f"agent:{by}", priority, reason, asked)
        return {"status": "accepted"}

    def _clash(self, asked: list[tuple[str, datetime, datetime]], task: str) -> bool:
        return any(
            (_covers(p, path) or _covers(path, p)) and a < end and begin < b
            for p, a, b in asked
            for path, begin, end in self._tasks[task].windows
            if end > self._now()
        )

    def _cancel(self, by: str, task: str) -> dict[str, Any]:
        if task not in self._tasks:
            raise NotFound("there is no such task", subject=task)
        if self._tasks[task].requester != f"agent:{by}":
            raise Refused("it belongs to somebody else", subject=task)
        del self._tasks[task]
        return {"status": "accepted"}

    def _schedule(self, _: str, path: str = "") -> dict[str, Any]:
        rows = []
        for name, t in self._tasks.items():
            if any(_covers(path, p) or _covers(p, path) for p, _a, _b in t.windows):
                windows = [{"path": p, "from": moment(a), "to": moment(b)} for p, a, b in t.windows]
                rows.append({"task": name, "requester": t.requester, "windows": windows})
        return {"tasks": rows}

    def _who(self, by: str, path: str) -> dict[str, Any]:
        points = []
        for p in sorted(self.defaults):
            if _covers(path, p):
                array = [
                    {"requester": s.requester, "command": s.id, "level": n, "value": s.value}
                    | ({"until": moment(s.ends)} if s.ends else {})
                    for n, s in sorted(self._array(p).items())
                ]
                row: dict[str, Any] = {"point": p, "array": array, "output": self._output(p)}
                commanded = self.value(p) if array else None
                row |= {"commanded": commanded, "wish": commanded, "reported": self.measured(p)}
                points.append(row)
        return {"points": points, "overrides": []} | self._schedule(by, path)


def _conflict(why: str, message: str, holders: list[Holder]) -> Conflict:
    e = Conflict(message)
    e.why, e.holders = why, tuple(holders)
    return e


def _fence(given: dict[str, Any] | None) -> Fence | None:
    if given is None:
        return None
    fence = msgspec.convert(given, Fence)
    if not fence.group or not 1 <= fence.term < 2**53:
        raise Invalid("a fence needs a group and a term from 1")
    return fence


def _before(a: Fence | None, b: Fence | None) -> bool:
    """Tell whether a leader of the same group with the other fence is newer, or has its term."""
    if a is None or b is None or a.group != b.group:
        return False
    return a.term < b.term or (a.term == b.term and a.leader != b.leader)
