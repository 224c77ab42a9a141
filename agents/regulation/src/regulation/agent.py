"""Members that elect a leader, which decides; each commands the units of its own node."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from datetime import datetime
from typing import Any

import msgspec
from voltbus import (
    Agent,
    Command,
    Conflict,
    Error,
    Fence,
    Message,
    NotFound,
    Recorder,
    Refused,
    Sample,
    Scan,
    Wants,
    rpc,
)

from .master import Master, Status
from .member import Member
from .predictive import available
from .report import Answer, Note, Order, Report, Token
from .settings import Settings
from .share import Exchange, Offer
from .shown import decision as shown_decision
from .shown import member as shown_member
from .shown import reported, response
from .shown import unit as shown_unit
from .stack import decide
from .unit import Local

HOUR = 3600.0
KEPT = 720  # decisions that the score so far is of


class Regulation(Agent[Settings]):
    """Lets the units of a campus follow a signal, within their bands and lock-outs."""

    wants = Wants(
        subscribe=["**"],
        publish=["regulation/**"],
        record=["regulation/**"],
        command=[Command("**", 12)],
    )
    version = "0.1.0"

    choose = staticmethod(decide)
    """The rule by which a leader decides, of units and a target in kW. A subclass may have its own."""

    _recorder: Recorder
    _member: Member
    _others: Exchange
    _jobs: tuple[asyncio.Task[None], ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._units: dict[str, Local] = {}
        self._signal: float | None = None
        self._said: deque[Status] = deque(maxlen=KEPT)
        self._decided: datetime | None = None
        self._renewed: datetime | None = None
        self._refused: dict[str, int] = {}
        self._shown: datetime | None = None
        self._scored: datetime | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        self._recorder = await self.bus.recorder().__aenter__()
        await self.release()  # what an earlier life left
        self._begin()

    async def stop(self) -> None:
        await self._end()
        await self.release()
        await self._recorder.close()

    async def changed(self, settings: Settings) -> None:
        await self._end()
        self._units.clear()
        self._begin()

    @rpc
    async def status(self) -> dict[str, Any]:
        """Return who leads, the members, the units, the last decision and the score so far."""
        m, now = self._member, self.bus.clock.now()
        reports = {r.unit: r for r in (*m.master.reports(), *self._reports(now))}
        units = [
            {"unit": r.unit, **reported(r, m.owners.get(r.unit, m.address))}
            for r in sorted(reports.values(), key=lambda r: r.position)
        ]
        own = {
            u.path: {"switches": u.switches, "discomfort": u.discomfort} for u in self._units.values()
        }
        return {
            "group": self.settings.group,
            "address": m.address,
            "leads": m.leads,
            "leader": m.token.leader,
            "term": m.token.term,
            "members": m.members(),
            "units": units,
            "own": own,
            "refused": dict(self._refused),
            "decision": msgspec.to_builtins(m.status),
            "score": self.score(),
            "course": [[s.at.isoformat(), s.signal, response(s)] for s in self._said],
        }

    def score(self) -> dict[str, float | None]:
        """Return the precision so far: 1 - mean |error| / mean |signal|, between 0 and 1."""
        if not self._said:
            return {"precision": None, "divisor": 0.0}
        divisor = sum(abs(s.signal) for s in self._said) / len(self._said)
        error = sum(abs(response(s) - s.signal) for s in self._said) / len(self._said)
        precision = min(1.0, max(0.0, 1 - error / divisor)) if divisor > 0 else None
        return {"precision": precision, "divisor": divisor}

    # -- what is listened to

    def _begin(self) -> None:
        s = self.settings
        self._units = {path: Local(path, u) for path, u in s.units.items()}
        master = Master(
            s.capacity, stale=max(300.0, 3 * s.beat), wait=max(4.0, 2 * s.beat), choose=self.choose
        )
        if s.predictive and available():
            master.ahead = s.period
        self._member = Member(s.address or self.name, master, s.beat, s.silence, s.period, s.master)
        self._others = Exchange(3 * s.beat)
        self._recorder.units = {
            f"regulation/{s.group}/{name}": "kW"
            for name in ("target", "baseline", "power", "expected", "more", "less")
        }
        if s.predictive and not available():
            self.log.warning("fans are not planned ahead: install highspy, the extra predictive")
        jobs = [self._listen_scans(), self._listen_members(), self._run()]
        if s.signal:
            jobs.append(self._listen_signal())
        if s.need and s.campuses:
            jobs.append(self._listen_campuses())
        self._jobs = tuple(self.bus.spawn(j, f"regulation {i}") for i, j in enumerate(jobs))

    async def _end(self) -> None:
        for job in self._jobs:
            job.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await job

    async def _listen_scans(self) -> None:
        if not self._units:
            return
        async with self.bus.scans(*self._units) as stream:
            async for scan in stream:
                await self._read(scan)

    async def _listen_signal(self) -> None:
        async with self.bus.samples(self.settings.signal) as stream:
            async for sample in stream:
                value = number(sample)
                self._signal = None if value is None else min(1.0, max(-1.0, value))

    async def _listen_members(self) -> None:
        topics = (f"regulation/{self.settings.group}", *self.settings.hear)
        async with self.bus.messages(*topics) as stream:
            async for message in stream:
                note = read(message)
                if note is not None and note.sender != self._member.address:
                    await self._step([note])

    async def _listen_campuses(self) -> None:
        async with self.bus.messages(
            f"regulation/{self.settings.group}/offer", *self.settings.campuses
        ) as stream:
            async for message in stream:
                with contextlib.suppress(msgspec.ValidationError):
                    self._others.hear(msgspec.convert(message.body, Offer))

    async def _read(self, scan: Scan) -> None:
        """Take the reading of a unit; command what its band demands, whoever leads."""
        unit = self._units.get(scan.device)
        if unit is None:
            return
        values = {s.name: number(s) for s in scan}
        temp, now = values.get(unit.settings.temp), self.bus.clock.now()
        if temp is None:
            return
        unit.read(now, temp, values.get(unit.settings.command))
        needs = unit.needs(now)
        if needs is not None:
            await self._command(unit, needs, None, "the temperature left its band")

    # -- what is decided

    async def _run(self) -> None:
        while True:
            try:
                await self._step([])
                await self._renew()
                await self._beat()
            except Error as e:
                await self.health("bad", str(e))
            due = self._member.next()
            wait = (due - self.bus.clock.now()).total_seconds() if due else self.settings.beat
            await asyncio.sleep(max(0.01, wait))

    def _reports(self, now: datetime) -> list[Report]:
        return [r for r in (u.report(now) for u in self._units.values()) if r is not None]

    async def _step(self, notes: list[Note]) -> None:
        """Let the member take messages, and carry out what follows."""
        async with self._turn:
            while True:
                now, m = self.bus.clock.now(), self._member
                was = m.leads, m.token
                mine = [
                    Note(n.sender, orders=n.orders) for n in notes if n.orders and n.to == m.address
                ]
                out = m.step(now, self._now(now), self._reports(now), notes)
                notes = []
                for note in [*mine, *out]:
                    if note.orders and note.to in {"", m.address}:
                        answers = [await self._obey(o) for o in note.orders]
                        reply = Note(m.address, note.sender, answers=answers)
                        if note.sender == m.address:
                            notes.append(reply)
                        else:
                            await self._say(reply)
                    else:
                        await self._say(note)
                await self._tell(was)
                if not notes:
                    return

    async def _say(self, note: Note) -> None:
        await self.bus.send(f"regulation/{self.settings.group}", msgspec.to_builtins(note))

    def _now(self, now: datetime) -> float:
        """Return what is asked of this group now, as a share of its capacity."""
        s = self.settings
        if s.signal:
            signal = self._signal or 0.0
        else:
            turns = 2 * math.pi * now.timestamp() / s.sway
            signal = 0.6 * math.sin(turns) + 0.3 * math.sin(2.65 * turns)
        if not s.need:
            return signal
        part = self._others.part(now, s.group, -signal * s.need)
        return min(1.0, max(-1.0, -part / s.capacity)) if s.capacity > 0 else 0.0

    async def _offer(self) -> None:
        """Tell the other campuses what this one can contribute, if this member leads it."""
        s, m = self.settings, self._member
        if not s.need or not m.leads:
            return
        now, st = self.bus.clock.now(), m.status
        offer = Offer(s.group, m.token.term, now, 0.0, 0.0)
        if st is not None:
            offer.more = min(s.capacity, max(0.0, st.expected + st.more - st.baseline))
            offer.less = min(s.capacity, max(0.0, st.baseline - st.expected + st.less))
        self._others.hear(offer)
        await self.bus.send(f"regulation/{s.group}/offer", msgspec.to_builtins(offer))

    async def _obey(self, o: Order) -> Answer:
        """Carry out an order of a leader, or say why not. Control refuses leaders of before."""
        unit, now = self._units.get(o.unit), self.bus.clock.now()
        if unit is None:
            return Answer(o.unit, o.number, "no-such-unit")
        code, token = unit.judge(now, o), o.token
        if not code:
            value = o.speed if unit.settings.variable else float(o.on)
            why = f"regulation, term {o.token.term} of {o.token.leader}"
            code, token = await self._command(unit, value, o.token, why)
        if code != "done":
            self._refused[code] = self._refused.get(code, 0) + 1
        return Answer(o.unit, o.number, code, token, unit.report(now))

    async def _command(
        self, unit: Local, value: float, by: Token | None, why: str
    ) -> tuple[str, Token]:
        """Command a unit of this node; return the code of what became of it, and the newest token."""
        s, token = self.settings, by or Token()
        fence = Fence(s.group, by.term, by.leader) if by is not None else None
        try:
            done = await self.write(
                f"{unit.path}/{unit.settings.command}",
                value,
                level=s.level,
                lease=s.lease,
                reason=why,
                fence=fence,
                wait=min(5.0, s.period),
            )
        except Conflict as e:
            newest = next((h.fence for h in e.holders if h.fence is not None), None)
            if e.why == "fenced" and newest is not None:
                return "old-term", Token(newest.term, newest.leader)
            return "local", token
        except Error as e:
            self.log.warning("unit was not commanded", extra={"unit": unit.path, "err": str(e)})
            return "failed", token
        if not done.wins or done.status != "accepted":
            return "local", token
        unit.turned(self.bus.clock.now(), value)
        return "done", token

    async def _renew(self) -> None:
        """Let the leases begin anew, three times in their length."""
        now = self.bus.clock.now()
        if self._renewed is not None:
            if (now - self._renewed).total_seconds() < self.settings.lease / 3:
                return
            for unit in self._units.values():
                with contextlib.suppress(NotFound, Conflict, Refused):
                    await self.bus.renew(f"{unit.path}/{unit.settings.command}")
        self._renewed = now

    # -- what is said

    async def _tell(self, was: tuple[bool, Token]) -> None:
        m = self._member
        if (m.leads, m.token) != was:
            state = {"leads": m.leads, "leader": m.token.leader, "term": m.token.term}
            await self.health("good", state | {"members": m.members()})
            self.log.info("another leader", extra=state)
            self._shown = None  # all shall see it at once
        st = m.status
        if not m.leads or st is None or st.at == self._decided:
            return
        self._decided = st.at
        self._said.append(st)
        values: dict[str, Any] = {
            "signal": st.signal,
            "response": response(st),
            "target": st.target,
            "baseline": st.baseline,
            "power": st.power,
            "expected": st.expected,
            "more": st.more,
            "less": st.less,
            "term": m.token.term,
            "leader": m.token.leader,
        }
        with contextlib.suppress(Refused):
            for name, value in values.items():
                await self._recorder.add(f"regulation/{self.settings.group}/{name}", value, time=st.at)

    async def _beat(self) -> None:
        """Say each beat what other campuses and screens want to know."""
        now, s, m = self.bus.clock.now(), self.settings, self._member
        if self._shown is not None and (now - self._shown).total_seconds() < s.beat:
            return
        self._shown = now
        await self._offer()
        at = f"regulation/{s.group}"
        with contextlib.suppress(Refused):
            await self.bus.publish(f"{at}/members/{m.address}", shown_member(self.name, m, s.silence))
            for u in self._units.values():
                r = u.report(now)
                if r is not None:
                    await self.bus.publish(f"{at}/units/{u.path}", shown_unit(u, r, m.address))
            if m.leads and m.status is not None:
                await self.bus.publish(at, shown_decision(m.status) | self.score())
                self._tell_score(now)

    def _tell_score(self, now: datetime) -> None:
        """Log the score of a leader once an hour."""
        if self._scored is None or (now - self._scored).total_seconds() >= HOUR:
            if self._scored is not None:
                self.log.info("score so far", extra=self.score())
            self._scored = now


def read(message: Message) -> Note | None:
    """Return what a member says; None if it cannot be read."""
    try:
        return msgspec.convert(message.body, Note)
    except msgspec.ValidationError:
        return None


def number(sample: Sample) -> float | None:
    """Return the value if it is a number and good."""
    value = sample.value
    if sample.good and isinstance(value, (bool, int, float)) and math.isfinite(value):
        return float(value)
    return None
