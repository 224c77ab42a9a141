"""A node of a campus: who leads, and what a leader does. It is handed time and messages.

The rules are those of the Go package ``regulation/member``: the smallest address that is heard leads,
also if only others hear it; each leader has a later term than those before; who has led hands over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .master import Master, Status
from .report import Hello, Note, Order, Report, State, Token


@dataclass
class Member:
    """The state of the election. Times are in seconds; with ``fixed`` only that address leads."""

    address: str
    master: Master
    beat: float = 2.0
    silence: float = 10.0
    period: float = 600.0
    fixed: str = ""
    token: Token = field(default_factory=Token)
    leads: bool = False
    status: Status | None = None
    next_beat: datetime | None = None
    next_decision: datetime | None = None
    owners: dict[str, str] = field(default_factory=dict)
    heard: dict[str, datetime] = field(default_factory=dict)
    _hears: dict[str, list[str]] = field(default_factory=dict)
    _began: datetime | None = None
    _led: bool = False
    _out: list[Note] = field(default_factory=list)

    def members(self) -> list[str]:
        """Return the addresses of those that are there."""
        return sorted({self.address, *self.heard})

    def step(self, now: datetime, signal: float, own: list[Report], notes: list[Note]) -> list[Note]:
        """Take messages, and do what is due. Return messages, of which some may be to oneself."""
        if self._began is None:
            self._began = self.next_beat = now
        for note in notes:
            self._take(now, note)
        for address, at in list(self.heard.items()):
            if now - at >= timedelta(seconds=self.silence):
                del self.heard[address]
                self._hears.pop(address, None)
        self._elect(now)
        if self.leads and self.next_decision is not None and now >= self.next_decision:
            self.next_decision = now + timedelta(seconds=self.period)
            self._decide(now, signal, own)
        if self.next_beat is not None and now >= self.next_beat:
            self.next_beat = now + timedelta(seconds=self.beat)
            said = Hello(self.token, self.leads, sorted(self.heard), own)
            self._out.append(Note(self.address, hello=said))
        out, self._out = self._out, []
        return out

    def next(self) -> datetime | None:
        """Return when ``step`` is due, if nothing is heard."""
        times = [self.next_beat, self.next_decision if self.leads else None]
        return min((t for t in times if t is not None), default=None)

    def _take(self, now: datetime, note: Note) -> None:
        if note.sender == self.address:
            for a in note.answers:
                self.master.answered(now, a)
                self.see(a.token)
            return
        if not note.sender or note.to not in {"", self.address}:
            return
        self.heard[note.sender] = now
        if note.hello is not None:
            self._greet(note.sender, note.hello)
        for o in note.orders:
            self.see(o.token)
        for a in note.answers:
            self.see(a.token)
            self.master.answered(now, a)
        if note.state is not None and self.leads:
            self._inherit(note.state)

    def _greet(self, sender: str, h: Hello) -> None:
        self.see(h.token)
        self._hears[sender] = h.hears
        if self.address in h.hears:  # else orders would not arrive
            for r in h.reports:
                self.owners[r.unit] = sender
                self.master.hear(r)
        if h.leads and h.token == self.token and not self.leads and self._led:
            m = self.master
            state = State(self.token, m.capacity, m.reports(), dict(self.owners))
            self._out.append(Note(self.address, sender, state=state))
            self._led = False

    def see(self, t: Token) -> None:
        """Learn of a token. Two leaders of one term make it void."""
        if t.term > self.token.term:
            self.token = t
        elif t.term == self.token.term and t != self.token and t.term > 0:
            self.token = Token(t.term + 1)
        else:
            return
        self.leads = False

    def _elect(self, now: datetime) -> None:
        """Begin a term, if no smaller address is there and nobody leads in its name."""
        if self._began is None or now - self._began < timedelta(seconds=self.silence):
            return
        if self.leads or (self.fixed != self.address if self.fixed else self._smaller_there()):
            return
        self.token = Token(self.token.term + 1, self.address)
        self.leads = self._led = True
        self.next_decision = self.next_beat = now
        self.master.token = self.token

    def _smaller_there(self) -> bool:
        known = set(self.heard).union(*(self._hears.get(a, []) for a in self.heard))
        return any(a < self.address for a in known)

    def _inherit(self, s: State) -> None:
        if s.token.term > self.token.term:
            return
        for r in s.reports:
            self.master.hear(r)
        self.owners = s.owners | self.owners
        self.master.capacity = self.master.capacity or s.capacity

    def _decide(self, now: datetime, signal: float, own: list[Report]) -> None:
        for r in own:
            self.owners[r.unit] = self.address
            self.master.hear(r)
        orders, self.status = self.master.decide(now, signal)
        to: dict[str, list[Order]] = {}
        for o in orders:
            to.setdefault(self.owners.get(o.unit, self.address), []).append(o)
        for address in sorted(to):
            self._out.append(Note(self.address, address, orders=to[address]))
