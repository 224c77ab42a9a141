"""Sends alerts by e-mail and webhook."""

from __future__ import annotations

import asyncio
import os
from datetime import timezone
from pathlib import Path

import msgspec
from voltbus import Agent, Error, Message, Wants, every, on, rpc

from .outbox import Book, Event, Outbox
from .send import FAILURES, send
from .settings import Mail, Settings, Webhook


class Notify(Agent[Settings]):
    """Tells people of alerts: of each once when it opens, when it gets worse and when it is over."""

    wants = Wants(subscribe=["alert/**"])
    version = "0.1.0"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self._file = (folder or Path(os.environ.get("VOLTBUS_DIR", "."))) / "outbox.json"
        self._book = Book()
        self._sending: set[str] = set()
        self._troubles: dict[str, str] = {}

    async def start(self) -> None:
        try:
            self._book = msgspec.json.decode(self._file.read_bytes(), type=Book)
        except FileNotFoundError:
            pass
        except (OSError, msgspec.MsgspecError) as e:
            self.log.error("what waited cannot be read and is lost", extra={"err": str(e)})
        await self.changed(self.settings)

    async def changed(self, settings: Settings) -> None:
        targets = settings.targets()
        for name in [n for n in self._book.boxes if n not in targets]:
            del self._book.boxes[name]
        for name in targets:
            self._book.boxes.setdefault(name, Outbox())
        self._troubles = {n: t for n, t in self._troubles.items() if n in targets}
        await self._report()

    @on.message("alert/**")
    async def hear(self, message: Message) -> None:
        """Take note of an alert, and let those wait for it that should hear of it."""
        body = message.body if isinstance(message.body, dict) else {}
        event = Event(
            agent=message.sender,
            key=message.topic.partition("/")[2],
            text=str(body.get("text", "")),
            severity=str(body.get("severity") or "warning"),
            time=self.bus.clock.now(),
            cleared=body.get("cleared") is True,
        )
        told = self._book.note(event, self.settings)
        if told is not None:
            for box in self._book.boxes.values():
                box.add(told)
        self._save()

    @every(seconds=1)
    async def look(self) -> None:
        """Send what is due. Each target goes by itself: one that hangs delays no other."""
        now = self.bus.clock.now()
        for name, target in self.settings.targets().items():
            box = self._book.boxes[name]
            events = [] if name in self._sending else box.due(self.settings, now)
            if events:
                self._sending.add(name)
                self.bus.spawn(self._deliver(name, target, box, events), f"send to {name}")

    @rpc
    async def test(self) -> dict[str, str]:
        """Send a test to each target, now; returns "sent", or why not, by the targets' names."""
        now = self.bus.clock.now().astimezone(timezone.utc)
        event = Event(self.name, "test", "This is a test; nothing is wrong.", "info", now)
        targets = self.settings.targets()
        said = await asyncio.gather(*(self._attempt(t, [event], 0) for t in targets.values()))
        return {name: why or "sent" for name, why in zip(targets, said, strict=True)}

    @rpc
    async def waiting(self) -> dict[str, int]:
        """Return how many events wait for each target."""
        return {name: len(box.waiting) for name, box in self._book.boxes.items()}

    # -- sending

    async def _deliver(
        self, name: str, target: Mail | Webhook, box: Outbox, events: list[Event]
    ) -> None:
        try:
            why = await self._attempt(target, events, box.dropped)
            now = self.bus.clock.now()
            if not why:
                box.went(events, now)
                self._troubles.pop(name, None)
                self.log.info("sent", extra={"target": name, "events": len(events)})
            else:
                given_up = box.failed(self.settings, now)
                self._troubles[name] = why
                self.log.warning(
                    "not sent", extra={"target": name, "err": why, "attempts": box.attempts}
                )
                for e in given_up:
                    self.log.error("given up", extra={"target": name, "agent": e.agent, "key": e.key})
        finally:
            self._sending.discard(name)
        self._save()
        await self._report()

    async def _attempt(self, target: Mail | Webhook, events: list[Event], dropped: int) -> str:
        """Send a message; return why it failed, empty if it did not."""
        try:
            await asyncio.to_thread(send, target, self.bus.node_name or "voltbus", events, dropped)
        except (Error, *FAILURES) as e:
            return f"{type(e).__name__}: {e}"
        return ""

    async def _report(self) -> None:
        if not self._book.boxes:
            await self.health("good", "no targets yet: store mail or webhook in the document config")
        elif self._troubles:
            await self.health("bad", {"not_sent": dict(self._troubles)})
        else:
            await self.health("good", f"tells {', '.join(self._book.boxes)}")

    def _save(self) -> None:
        """Write what must outlive a restart, whole or not at all."""
        new = self._file.with_suffix(".new")
        try:
            with new.open("wb") as out:
                out.write(msgspec.json.encode(self._book))
                out.flush()
                os.fsync(out.fileno())
            new.replace(self._file)
        except OSError as e:
            self.log.error("what waits is not on the disk", extra={"err": str(e)})
