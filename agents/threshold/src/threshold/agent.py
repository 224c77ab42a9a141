"""Alarms when points pass a limit, or fall silent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TypedDict

from voltbus import Agent, Config, Error, Recorder, Refused, Sample, Stream, Wants, every, rpc
from voltbus.path import Pattern

from .alarm import Alarm, Rule


class Settings(Config):
    """The rules by name. A name becomes part of the paths below ``record`` and of alerts' keys."""

    rules: dict[str, Rule] = {}
    record: str = "analysis/alarm"

    def __post_init__(self) -> None:
        for name, rule in self.rules.items():
            if not name or set(name) & set("/*"):
                raise ValueError(f"rules: {name!r} is no name; leave out / and *")
            if problem := rule.problem():
                raise ValueError(f"rules.{name}: {problem}")


class Open(TypedDict):
    """An alarm that is on, as ``alarms`` tells it."""

    rule: str
    point: str
    why: str
    since: str
    severity: str


class Threshold(Agent[Settings]):
    """Raises an alert while a point is beyond a limit, or silent, and records that as a point."""

    wants = Wants(subscribe=["demo/**"], read=["demo/**"], record=["analysis/alarm/**"])
    version = "0.1.0"

    _recorder: Recorder
    _listening: asyncio.Task[None] | None = None

    def __init__(self) -> None:
        super().__init__()
        self._alarms: dict[tuple[str, str], Alarm] = {}  # by rule and point

    async def start(self) -> None:
        self._recorder = await self.bus.recorder().__aenter__()
        self.bus.on_change(self._granted)
        await self._begin()

    async def stop(self) -> None:
        await self._end()
        await self._recorder.close()

    async def changed(self, settings: Settings) -> None:
        await self._end()
        for (name, point), alarm in list(self._alarms.items()):
            if settings.rules.get(name) == alarm.rule:
                continue  # it goes on where it was
            del self._alarms[name, point]
            if alarm.state is not None and alarm.state.on:
                await self.clear(f"{name}/{point}")
                await self._recorder.add(f"{settings.record}/{name}/{point}", False)
        await self._begin()

    @rpc
    async def alarms(self) -> list[Open]:
        """Return the alarms that are on, the newest first."""
        found = [
            Open(
                rule=name,
                point=point,
                why=alarm.state.why,
                since=alarm.state.since.isoformat(),
                severity=alarm.rule.severity,
            )
            for (name, point), alarm in self._alarms.items()
            if alarm.state is not None and alarm.state.on
        ]
        return sorted(found, key=lambda a: a["since"], reverse=True)

    @every(seconds=1, wait=True)
    async def look(self) -> None:
        """Let time pass: delays end, and points fall silent."""
        now = self.bus.clock.now()
        for key, alarm in self._alarms.items():
            if alarm.look(now):
                await self._tell(key, alarm)

    # -- what is listened to

    async def _begin(self) -> None:
        patterns = sorted({r.points for r in self.settings.rules.values()})
        if not patterns:
            await self.health("good", "no rules yet: store some in the document config")
            return
        missing = await self._expect(patterns)
        stream = self.bus.samples(*patterns)
        self._listening = self.bus.spawn(self._listen(stream), "points")
        text = f"{len(self.settings.rules)} rules"
        if missing:
            text += f"; points that never report are not noticed: {missing}"
        await self.health("good", text)

    async def _end(self) -> None:
        task, self._listening = self._listening, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _expect(self, patterns: list[str]) -> str:
        """Begin an alarm for each point that the node knows; return what is missing for that."""
        try:
            for pattern in patterns:
                after = ""
                while True:
                    page = await self.bus.points(pattern, after=after)
                    for point in page.points:
                        list(self._of(point.path))
                    after = page.next
                    if not after:
                        break
        except Refused as e:
            return str(e)
        return ""

    def _of(self, point: str) -> Iterator[tuple[tuple[str, str], Alarm]]:
        """Yield the alarms of a point, new ones included."""
        for name, rule in self.settings.rules.items():
            alarm = self._alarms.get((name, point))
            if alarm is None and Pattern(rule.points).match(point):
                alarm = self._alarms[name, point] = Alarm(rule, self.bus.clock.now())
            if alarm is not None:
                yield (name, point), alarm

    async def _listen(self, stream: Stream[Sample]) -> None:
        try:
            async with stream:
                async for sample in stream:
                    await self._take(sample)
        except Refused as e:
            await self.health("bad", str(e))

    def _granted(self) -> None:
        """Begin again where listening was refused: it may be granted now."""
        if self._listening is not None and self._listening.done():
            self._listening = None
            self.bus.spawn(self._begin(), "begin again")

    async def _take(self, sample: Sample) -> None:
        value = sample.value
        if not sample.good or not isinstance(value, (bool, int, float)) or value != value:  # noqa: PLR0124
            return  # a reading that is not good is none
        now = self.bus.clock.now()
        for key, alarm in list(self._of(sample.point)):
            if alarm.take(float(value), now):
                await self._tell(key, alarm)

    async def _tell(self, key: tuple[str, str], alarm: Alarm) -> None:
        """Raise or clear the alert, and record the state."""
        name, point = key
        state = alarm.state
        assert state is not None
        try:
            if state.on:
                reading = "no value yet" if alarm.value is None else f"{alarm.value:g}"
                await self.alert(
                    f"{name}/{point}", f"{point}: {reading}, {state.why}", alarm.rule.severity
                )
            else:
                await self.clear(f"{name}/{point}")
        except Error:
            self.log.exception("an alert was not told", extra={"rule": name, "point": point})
        await self._recorder.add(f"{self.settings.record}/{name}/{point}", state.on)
