"""What waits for whom, and when it may go. No bus, no clock, no network; it fits in a file."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from .settings import RANK, Settings

MOST = 1000  # events that wait for one target
PAUSE, LONGEST = 5.0, 900.0  # seconds between attempts, doubling


class Event(msgspec.Struct, frozen=True):
    """An alert that began, got worse, or is over."""

    agent: str
    key: str
    text: str
    severity: str
    time: datetime
    cleared: bool = False


class Open(msgspec.Struct):
    """An alert that people know of."""

    severity: str
    text: str


class Outbox(msgspec.Struct):
    """What waits for one target."""

    waiting: list[Event] = []
    dropped: int = 0  # events that nobody will be told of any more
    attempts: int = 0  # in a row that failed
    not_before: datetime | None = None
    sent: list[datetime] = []  # within the last hour

    def add(self, event: Event) -> None:
        """Take an event; the oldest gives way if there are too many."""
        self.waiting.append(event)
        if len(self.waiting) > MOST:
            del self.waiting[0]
            self.dropped += 1

    def due(self, settings: Settings, now: datetime) -> list[Event]:
        """Return what should go in one message now."""
        if self.not_before is not None and now < self.not_before:
            return []
        self.sent = [t for t in self.sent if now - t < timedelta(hours=1)]
        if len(self.sent) >= settings.limit:
            return []
        found = self.waiting
        if settings.quiet is not None and settings.quiet.covers(now):
            found = [e for e in found if e.severity == "critical"]
        ripe = found and now - found[0].time >= timedelta(seconds=settings.group)
        return list(found) if ripe else []

    def went(self, events: list[Event], now: datetime) -> None:
        """Note that events were sent."""
        self._forget(events)
        self.sent.append(now)
        self.dropped, self.attempts, self.not_before = 0, 0, None

    def failed(self, settings: Settings, now: datetime) -> list[Event]:
        """Note that an attempt failed; returns the events that are given up."""
        self.attempts += 1
        pause = min(LONGEST, PAUSE * 2 ** min(self.attempts - 1, 10))
        self.not_before = now + timedelta(seconds=pause)
        old = [e for e in self.waiting if now - e.time > timedelta(hours=settings.patience)]
        self._forget(old)
        self.dropped += len(old)
        return old

    def _forget(self, events: list[Event]) -> None:
        gone = {id(e) for e in events}
        self.waiting = [e for e in self.waiting if id(e) not in gone]


class Book(msgspec.Struct):
    """All that must outlive a restart: open alerts by agent and key, and what waits."""

    open: dict[str, Open] = {}
    boxes: dict[str, Outbox] = {}

    def note(self, event: Event, settings: Settings) -> Event | None:
        """Take note of an alert; return what people should hear of it, None if nothing is new."""
        name = f"{event.agent} {event.key}"
        before = self.open.get(name)
        if event.cleared:
            if before is None:
                return None
            del self.open[name]
            told = msgspec.structs.replace(event, severity=before.severity, text=before.text)
            return told if settings.clear else None
        if RANK.get(event.severity, 1) < RANK[settings.severity]:
            return None
        self.open[name] = Open(event.severity, event.text)
        worse = before is None or RANK.get(event.severity, 1) > RANK.get(before.severity, 1)
        return event if worse else None


def summary(node: str, events: list[Event]) -> str:
    """Return a line about events."""
    began, over = [e for e in events if not e.cleared], [e for e in events if e.cleared]
    if len(events) == 1:
        one = events[0]
        return f"[{node}] {'over' if one.cleared else one.severity}: {one.agent} {one.key}"
    parts = [f"{len(found)} {word}" for found, word in ((began, "alerts"), (over, "over")) if found]
    return f"[{node}] {', '.join(parts)}"


def letter(events: list[Event], dropped: int) -> str:
    """Return the text about events, a paragraph each."""
    out = []
    for e in events:
        head = "over" if e.cleared else e.severity
        out.append(f"{head.upper()}  {e.agent} {e.key}  {e.time:%Y-%m-%d %H:%M:%S} UTC\n    {e.text}\n")
    if dropped:
        out.append(f"{dropped} more could not be told; voltbus alerts lists all that are open.\n")
    return "\n".join(out)
