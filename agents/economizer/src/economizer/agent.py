"""Finds faults of the outdoor-air economizer of air handlers."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from voltbus import Agent, Config, Recorder, Refused, Sample, Scan, Stream, Value, Wants, rpc

from .rules import RULES, Finding, State, Tolerance, judge, telling


class Names(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The points of an air handler, by their names within the device."""

    outdoor: str = "outdoor_temp"
    mixed: str = "mixed_temp"
    back: str = "return_temp"
    discharge: str = "supply_temp"
    damper: str = "damper"
    least: str = "min_outdoor_air"
    cooling: str = "cooling_valve"
    heating: str = "heating_valve"
    fan: str = "fan_running"


class Settings(Config):
    """What is judged, and how.

    ``devices`` are patterns of air handlers' paths. They are judged each ``window`` seconds by the mean
    of that time. A fault is told when it shows in ``confirm`` windows on end, and is over after as many
    without it. ``least`` is the least share of outdoor air in %, where no point tells it.
    """

    devices: tuple[str, ...] = ("demo/*/ahu",)
    names: Names = Names()
    tolerance: Tolerance = Tolerance()
    window: float = 600.0
    confirm: int = 3
    least: float = 20.0
    record: str = "analysis/economizer"

    def __post_init__(self) -> None:
        if not self.devices:
            raise ValueError("devices: name at least one air handler")
        if not 1 <= self.window <= 86400:
            raise ValueError("window is a number of seconds from 1 to 86400")
        if not 1 <= self.confirm <= 100:
            raise ValueError("confirm is a number of windows from 1 to 100")
        if not 0 <= self.least <= 100:
            raise ValueError("least is a share in % from 0 to 100")
        if problem := self.tolerance.problem():
            raise ValueError(f"tolerance: {problem}")


@dataclass
class Handler:
    """What is known of one air handler."""

    sums: dict[str, float] = field(default_factory=dict)
    count: int = 0  # scans with the fan on that could be used
    off: int = 0  # scans with the fan off
    lacking: str = ""  # what the newest scan that could not be used lacks
    streak: dict[str, int] = field(default_factory=dict)  # > 0: windows with the fault, < 0: without
    open: dict[str, str] = field(default_factory=dict)  # faults that were told, with their texts

    def begin(self) -> None:
        """Begin a new window."""
        self.sums, self.count, self.off, self.lacking = {}, 0, 0, ""


class Economizer(Agent[Settings]):
    """Compares what air handlers do with outdoor air to what they should; tells and records it."""

    wants = Wants(subscribe=["demo/**"], record=["analysis/economizer/**"])
    version = "0.1.0"

    _recorder: Recorder
    _jobs: tuple[asyncio.Task[None], ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._handlers: dict[str, Handler] = {}

    async def start(self) -> None:
        self._recorder = await self.bus.recorder().__aenter__()
        self.bus.on_change(self._granted)
        self._begin()

    async def stop(self) -> None:
        await self._end()
        await self._recorder.close()

    async def changed(self, settings: Settings) -> None:
        await self._end()
        self._begin()

    @rpc
    async def faults(self) -> dict[str, dict[str, str]]:
        """Return the faults that are there now: for each air handler their names and texts."""
        return {path: dict(h.open) for path, h in self._handlers.items() if h.open}

    # -- what is listened to

    def _begin(self) -> None:
        for handler in self._handlers.values():
            handler.begin()
        stream = self.bus.scans(*self.settings.devices)
        listen = self.bus.spawn(self._listen(stream), "scans")
        self._jobs = (listen, self.bus.spawn(self._judge(), "judge"))

    async def _end(self) -> None:
        for job in self._jobs:
            job.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await job

    async def _listen(self, stream: Stream[Scan]) -> None:
        try:
            async with stream:
                async for scan in stream:
                    self._take(scan)
        except Refused as e:
            await self.health("bad", str(e))

    def _granted(self) -> None:
        """Begin again where listening was refused: it may be granted now."""
        if self._jobs and self._jobs[0].done():
            self._jobs[1].cancel()
            self._begin()

    def _take(self, scan: Scan) -> None:
        """Add a scan to its window, if all that is needed is good and the fan runs."""
        names = self.settings.names
        values = {s.name: number(s) for s in scan}
        fan = values.get(names.fan)
        handler = self._handlers.setdefault(scan.device, Handler())
        if fan is not None and fan < 0.5:
            handler.off += 1
            return
        wanted = {f: values.get(getattr(names, f)) for f in State.__dataclass_fields__}
        if wanted["least"] is None:
            wanted["least"] = self.settings.least
        if fan is None or None in wanted.values():
            lacking = [getattr(names, f) for f, v in wanted.items() if v is None]
            handler.lacking = ", ".join(lacking) or names.fan
            return
        handler.count += 1
        for f, v in wanted.items():
            handler.sums[f] = handler.sums.get(f, 0.0) + (v or 0.0)

    # -- what is said

    async def _judge(self) -> None:
        while True:
            await asyncio.sleep(self.settings.window)
            now = self.bus.clock.now()
            for path, handler in sorted(self._handlers.items()):
                await self._judge_one(path, handler, now)
                handler.begin()
            await self._report()

    async def _judge_one(self, path: str, handler: Handler, now: datetime) -> None:
        """Judge a window, record what came out, and tell what has been so for long enough."""
        state = mean(handler)
        if state is None:
            why = (
                "the fan is off"
                if handler.off
                else f"no good reading of {handler.lacking or 'anything'}"
            )
            findings = {name: Finding(judged=False) for name in RULES}
        else:
            why = "judged"
            findings = judge(state, self.settings.tolerance)
        await self._record(f"{self.settings.record}/{path}", state, findings, why, now)
        for name, finding in findings.items():
            await self._tell(path, handler, name, finding)

    async def _record(
        self, place: str, state: State | None, findings: Mapping[str, Finding], why: str, now: datetime
    ) -> None:
        """Record a window. What could not be judged is no fault, and uncertain."""
        samples: list[tuple[str, Value, str]] = [
            (name, f.fault, "good" if f.judged else "uncertain") for name, f in findings.items()
        ]
        samples.append(("state", why, "good"))
        if state is not None and state.outdoor != state.back:
            sound = telling(state, self.settings.tolerance) and not findings["sensors"].fault
            samples.append(("outdoor_air", state.share(), "good" if sound else "uncertain"))
        for name, value, quality in samples:
            await self._recorder.add(f"{place}/{name}", value, time=now, quality=quality)

    async def _tell(self, path: str, handler: Handler, name: str, finding: Finding) -> None:
        if not finding.judged:
            return
        step = 1 if finding.fault else -1
        before = handler.streak.get(name, 0)
        now = handler.streak[name] = before + step if before * step > 0 else step
        if finding.fault and now >= self.settings.confirm:
            handler.open[name] = finding.text
            await self.alert(f"{path}/{name}", f"{path}: {finding.text}")
        elif -now == self.settings.confirm:
            handler.open.pop(name, None)
            await self.clear(f"{path}/{name}")

    async def _report(self) -> None:
        if not self._handlers:
            await self.health("bad", f"no scan of {', '.join(self.settings.devices)} in a window")
            return
        faulty = sum(bool(h.open) for h in self._handlers.values())
        await self.health("good", {"air_handlers": len(self._handlers), "faulty": faulty})


def number(sample: Sample) -> float | None:
    """Return the value if it is a number and good."""
    value = sample.value
    if sample.good and isinstance(value, (bool, int, float)) and math.isfinite(value):
        return float(value)
    return None


def mean(handler: Handler) -> State | None:
    """Return the mean of a window in which the fan ran for the most part."""
    if not handler.count or handler.off > handler.count:
        return None
    return State(**{f: total / handler.count for f, total in handler.sums.items()})
