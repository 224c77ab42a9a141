"""Keeps the power of a building under a limit by letting rooms get warmer in turn."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from datetime import datetime, timedelta
from typing import Any

from voltbus import (
    Agent,
    Command,
    Error,
    NotFound,
    Recorder,
    Refused,
    Sample,
    Scan,
    Stream,
    Value,
    Wants,
    rpc,
)
from voltbus.path import Pattern

from .plan import Move, Plan, Room
from .settings import Names, Settings

SAME = 0.05  # K within which two set points are one
KEPT = 50  # decisions that can be asked for


class PowerLimit(Agent[Settings]):
    """Asks rooms for a higher set point while the building takes too much, within comfort."""

    wants = Wants(
        subscribe=["demo/tower/**"],
        record=["analysis/powerlimit/**"],
        command=[Command("demo/tower/*/setpoint", 12, 18, 26)],
    )
    version = "0.1.0"

    _recorder: Recorder
    _jobs: tuple[asyncio.Task[None], ...] = ()
    _began: datetime  # before, set points may be those of an earlier life
    _names: Names

    def __init__(self) -> None:
        super().__init__()
        self._plan = Plan()
        self._sum, self._count = 0.0, 0  # of the meter's readings since the last decision
        self._power: float | None = None  # at the last decision
        self._heard: datetime | None = None  # the newest reading of the meter
        self._renewed: datetime | None = None
        self._alerted: set[str] = set()
        self._state = ""
        self._refused = ""  # why it does not hear what it should
        self._said: deque[dict[str, str]] = deque(maxlen=KEPT)

    async def start(self) -> None:
        self._recorder = await self.bus.recorder().__aenter__()
        await self.release()  # what an earlier life left
        self._began = self.bus.clock.now()
        self.bus.on_change(self._granted)
        self._begin()

    async def stop(self) -> None:
        await self._end()
        await self.release()
        await self._recorder.close()

    async def changed(self, settings: Settings) -> None:
        await self._end()
        if settings.names != self._names:
            await self.release()
            self._plan.rooms.clear()
        for path, room in list(self._plan.rooms.items()):
            if not any(Pattern(p).match(path) for p in settings.rooms):
                await self._free(room)
                del self._plan.rooms[path]
        self._begin()

    @rpc
    async def status(self) -> dict[str, Any]:
        """Return the limit, the power, the state, and each room with what it is asked for."""
        rooms = sorted(self._plan.rooms.items())
        told = {
            path: {
                "temp": r.temp,
                "setpoint": r.setpoint,
                "usual": r.usual,
                "raised": r.raised,
                "since": r.since.isoformat() if r.since else None,
                "lost": r.lost,
            }
            for path, r in rooms
        }
        state = {"limit": self.settings.limit, "power": self._power, "state": self._state}
        return state | {"rooms": told}

    @rpc
    async def decisions(self) -> list[dict[str, str]]:
        """Return the last 50 decisions, the newest first: when, and what."""
        return list(reversed(self._said))

    # -- what is listened to

    def _begin(self) -> None:
        self._names, self._refused = self.settings.names, ""
        units = {
            "power": self.settings.unit,
            "limit": self.settings.unit,
            "kelvin": "K",
            "discomfort": "K",
        }
        self._recorder.units = {f"{self.settings.record}/{name}": u for name, u in units.items()}
        self._heard = self.bus.clock.now()
        self._sum, self._count = 0.0, 0
        jobs = [self.bus.spawn(self._listen_rooms(self.bus.scans(*self.settings.rooms)), "rooms")]
        jobs.append(self.bus.spawn(self._listen_meter(self.bus.samples(self.settings.meter)), "meter"))
        self._jobs = (*jobs, self.bus.spawn(self._run(), "decide"))

    async def _end(self) -> None:
        for job in self._jobs:
            job.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await job

    def _granted(self) -> None:
        """Begin again where listening was refused: it may be granted now."""
        if any(job.done() for job in self._jobs[:2]):
            for job in self._jobs:
                job.cancel()
            self._begin()

    async def _listen_rooms(self, stream: Stream[Scan]) -> None:
        try:
            async with stream:
                async for scan in stream:
                    self._take(scan)
        except Refused as e:
            self._refused = str(e)

    async def _listen_meter(self, stream: Stream[Sample]) -> None:
        try:
            async with stream:
                async for sample in stream:
                    value = number(sample)
                    if value is not None:
                        self._sum, self._count = self._sum + value, self._count + 1
                        self._heard = self.bus.clock.now()
        except Refused as e:
            self._refused = str(e)

    def _take(self, scan: Scan) -> None:
        """Keep what a room says, if it is one."""
        names = self.settings.names
        if names.temp not in scan.points or names.setpoint not in scan.points:
            return
        values = {s.name: number(s) for s in scan}
        room = self._plan.rooms.setdefault(scan.device, Room(scan.device))
        room.temp, room.setpoint = values[names.temp], values[names.setpoint]
        room.power, room.heard = values.get(names.power), self.bus.clock.now()
        quiet = room.quiet(room.heard, self.settings.effect)
        begun = room.heard - self._began >= timedelta(seconds=self.settings.effect)
        if not room.raised and quiet and begun and room.setpoint is not None:
            room.usual = room.setpoint

    # -- what is decided

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.settings.interval)
            try:
                await self._decide()
            except Error as e:
                await self.health("bad", str(e))

    async def _decide(self) -> None:
        """Decide, act, and tell."""
        s, now = self.settings, self.bus.clock.now()
        await self._look(now)
        if self._count:
            self._power = self._sum / self._count
            self._sum, self._count = 0.0, 0
            moves = self._plan.decide(self._power, now, s)
        elif stale(self._heard, now, s.stale):
            self._power = None
            moves = [Move(r, 0, "the meter is silent") for r in self._plan.rooms.values() if r.raised]
        else:
            moves = []
        done = [m for m in moves if await self._carry_out(m, now)]
        await self._renew(now)
        await self._tell(now)
        await self._record([m.text() for m in done], now)

    async def _look(self, now: datetime) -> None:
        """Let go of rooms that are silent, or that somebody else took."""
        s = self.settings
        for r in list(self._plan.rooms.values()):
            if stale(r.heard, now, s.stale):
                r.temp = None
            if r.lost and r.back is not None and now >= r.back:
                r.lost = ""
            if not r.raised:
                continue
            if r.temp is None:
                await self._lose(r, now, "its temperature is not known")
            elif r.quiet(now, s.effect) and not same(r.setpoint, r.wanted):
                await self._lose(r, now, f"its set point is {r.setpoint}, not {r.wanted:g}")

    async def _carry_out(self, move: Move, now: datetime) -> bool:
        """Command a room; report whether it is as it should be."""
        room, s = move.room, self.settings
        if move.raised <= 0:
            await self._free(room)
            room.since = now
            return True
        try:
            done = await self.write(
                self._point(room),
                (room.usual or 0.0) + move.raised,
                level=s.level,
                lease=s.lease,
                reason=f"power limit of {s.limit:g}: {move.why}",
                wait=min(5.0, s.interval),
            )
        except Error as e:
            await self._lose(room, now, str(e))
            return False
        if not done.wins or done.status != "accepted":
            await self._lose(room, now, "a more urgent command holds it")
            return False
        room.raised, room.since = move.raised, now
        return True

    async def _lose(self, room: Room, now: datetime, why: str) -> None:
        """Leave a room alone for a while."""
        await self._free(room)
        room.lost, room.since, room.back = why, now, now + timedelta(seconds=self.settings.rest)
        self.log.warning("room is left alone", extra={"room": room.path, "err": why})

    async def _free(self, room: Room) -> None:
        with contextlib.suppress(NotFound):
            await self.release(self._point(room))
        room.raised = 0.0

    async def _renew(self, now: datetime) -> None:
        """Let the leases begin anew, three times in their length."""
        held = [r for r in self._plan.rooms.values() if r.raised]
        due = self._renewed is None or now - self._renewed >= timedelta(seconds=self.settings.lease / 3)
        if not held or not due:
            return
        for r in held:
            try:
                await self.bus.renew(self._point(r))
            except NotFound:
                await self._lose(r, now, "its command was ended")
        self._renewed = now

    def _point(self, room: Room) -> str:
        return f"{room.path}/{self.settings.names.setpoint}"

    # -- what is said

    async def _tell(self, now: datetime) -> None:
        s, plan = self.settings, self._plan
        raised = sum(r.raised > 0 for r in plan.rooms.values())
        lost = {r.path: r.lost for r in plan.rooms.values() if r.lost}
        over = plan.over is not None and now - plan.over >= timedelta(seconds=s.patience)
        blind = self._power is None and stale(self._heard, now, s.stale)
        await self._raise(
            "meter", blind, f"no good reading of {s.meter} in {s.stale:g} s: rooms are left alone"
        )
        why = "no room can be asked for more" if plan.exhausted(now, s) else "rooms are asked for more"
        if lost:
            why += f"; {len(lost)} cannot be asked: " + "; ".join(f"{p}: {w}" for p, w in lost.items())
        power = self._power or 0.0
        await self._raise("limit", over, f"{s.meter} is {power:.1f}, the limit {s.limit:g}: {why}")
        if blind:
            self._state = "blind"
        elif plan.over is not None:
            self._state = "over"
        else:
            self._state = "holding" if raised else "free"
        context: dict[str, Any] = {"state": self._state, "power": self._power, "rooms": len(plan.rooms)}
        context |= {"raised": raised, "lost": lost, "refused": self._refused}
        well = bool(plan.rooms) and not blind and not self._refused
        await self.health("good" if well else "bad", context)

    async def _raise(self, key: str, wrong: bool, text: str) -> None:
        """Have an alert open while something is wrong, with the text of its beginning."""
        if wrong and key not in self._alerted:
            self._alerted.add(key)
            await self.alert(key, text)
        elif not wrong and key in self._alerted:
            self._alerted.discard(key)
            await self.clear(key)

    async def _record(self, said: list[str], now: datetime) -> None:
        """Record the limit, what it costs, and what was decided."""
        rooms = list(self._plan.rooms.values())
        values: dict[str, Value] = {
            "limit": self.settings.limit,
            "raised": sum(r.raised > 0 for r in rooms),
            "kelvin": sum(r.raised for r in rooms),
            "discomfort": max((r.discomfort for r in rooms), default=0.0),
            "state": self._state,
        }
        if self._power is not None:
            values["power"] = self._power
        if said:
            values["decision"] = "; ".join(said)
            self._said.append({"time": now.isoformat(), "decision": "; ".join(said)})
        for name, value in values.items():
            await self._recorder.add(f"{self.settings.record}/{name}", value, time=now)


def number(sample: Sample) -> float | None:
    """Return the value if it is a number and good."""
    value = sample.value
    if sample.good and isinstance(value, (bool, int, float)) and math.isfinite(value):
        return float(value)
    return None


def same(a: float | None, b: float) -> bool:
    """Report whether two set points are one."""
    return a is not None and abs(a - b) <= SAME


def stale(heard: datetime | None, now: datetime, seconds: float) -> bool:
    """Report whether there was no reading for so long."""
    return heard is None or now - heard > timedelta(seconds=seconds)
