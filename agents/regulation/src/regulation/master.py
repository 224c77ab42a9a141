"""Decides for all units that it hears of: what a leader does each period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from .predictive import plan
from .report import Answer, Order, Report, Token
from .stack import Change, Decision, decide


class Status(msgspec.Struct):
    """What the last decision knew; ``more`` and ``less`` are the capacity that is left."""

    at: datetime
    signal: float = 0.0
    baseline: float = 0.0  # without regulation: what holds the temperatures
    target: float = 0.0
    power: float = 0.0  # before the decision, by the reports
    expected: float = 0.0  # after it
    capacity: float = 0.0
    more: float = 0.0
    less: float = 0.0
    units: int = 0
    silent: int = 0
    orders: int = 0
    refused: dict[str, int] = {}  # since the decision before, by their codes


@dataclass
class _Known:
    told: Report
    unit: Report  # as it is, or will be after the order that is under way
    pending: int = 0
    asked: datetime | None = None
    barred: datetime | None = None


@dataclass
class Master:
    """The units, and the orders under way. Times are in seconds."""

    capacity: float
    stale: float = 300.0
    wait: float = 4.0
    choose: Callable[[Sequence[Report], float], Decision] = decide  # units, and the target in kW
    ahead: float = 0.0  # seconds of a step of predictive control of fans; 0: without
    token: Token = field(default_factory=Token)
    _number: int = 0
    _units: dict[str, _Known] = field(default_factory=dict)
    _refused: dict[str, int] = field(default_factory=dict)

    def hear(self, r: Report) -> bool:
        """Take a report; tell whether it is that of a new unit. A wrong one changes nothing."""
        k = self._units.get(r.unit)
        if r.wrong() or (k is not None and r.at < k.told.at):
            return False
        if k is None:
            self._units[r.unit] = _Known(r, r)
            return True
        k.told = r
        if not k.pending:
            k.unit = r
        return False

    def reports(self) -> list[Report]:
        """Return what the units said last."""
        return [k.told for k in self._units.values()]

    def answered(self, now: datetime, a: Answer) -> None:
        """Take the answer to an order; one that was taken for lost only counts as a report."""
        k = self._units.get(a.unit)
        if k is None:
            return
        if a.report is not None:
            self.hear(a.report)
        if not k.pending or k.pending != a.number:
            return
        wanted, k.pending, k.unit = k.unit, 0, k.told
        code = a.code
        if code == "done" and not _follows(wanted, k.told):
            code = "unchanged"  # the node says so, and its unit is not as ordered
        if code != "done":
            self._refused[code] = self._refused.get(code, 0) + 1
            k.barred = now + timedelta(seconds=max(k.told.free, self.stale / 10))

    def decide(self, now: datetime, signal: float) -> tuple[list[Order], Status]:
        """Return orders that bring the power to the baseline minus signal times capacity."""
        st = Status(now, signal, capacity=self.capacity, units=len(self._units), refused=self._refused)
        self._refused = {}
        names = list(self._units)
        view = [self._seen(now, self._units[n], st) for n in names]
        st.baseline, st.power = sum(u.hold for u in view), sum(u.power for u in view)
        st.target = st.baseline - signal * self.capacity
        d = self._planned(view, st.target, self.choose(view, st.target))
        st.expected, st.more, st.less, st.orders = d.expected, d.more, d.less, len(d.changes)
        return [self._order(now, names[c.unit], c) for c in d.changes], st

    def _planned(self, view: list[Report], target: float, d: Decision) -> Decision:
        """Have fans with a model follow a plan, in place of sharing what is left alike."""
        fans = [i for i, u in enumerate(view) if u.variable and u.model is not None and u.free <= 0]
        if not self.ahead or not fans:
            return d
        others = [c for c in d.changes if c.unit not in fans]
        rest = [u for i, u in enumerate(view) if i not in fans]
        after = sum(u.power for u in rest)
        for c in others:
            u = view[c.unit]
            after += u.rated * (c.speed**3 if u.variable else float(c.on)) - u.power
        speeds = plan([view[i] for i in fans], target - after, self.ahead)
        planned = [Change(i, True, s) for i, s in zip(fans, speeds, strict=True)]
        expected = after + sum(view[c.unit].rated * c.speed**3 for c in planned)
        return Decision(others + planned, expected, d.more, d.less)

    def _seen(self, now: datetime, k: _Known, st: Status) -> Report:
        """Return a unit as a decision has it: silent, refused and asked ones do not change."""
        if k.pending and k.asked is not None and now - k.asked >= timedelta(seconds=self.wait):
            k.pending, k.unit = 0, k.told
        age = max(0.0, (now - k.told.at).total_seconds())
        barred = (k.barred - now).total_seconds() if k.barred is not None else 0.0
        free = max(0.0, k.unit.free - age, barred)
        power = k.unit.power
        if age > self.stale:
            st.silent += 1
            free, power = 1.0, k.unit.hold  # nobody knows better
        elif k.pending:
            free = max(free, 1.0)
        return msgspec.structs.replace(k.unit, free=free, power=power)

    def _order(self, now: datetime, name: str, c: Change) -> Order:
        self._number += 1
        k = self._units[name]
        k.pending, k.asked = self._number, now
        power = k.unit.rated * (c.speed**3 if k.unit.variable else float(c.on))
        k.unit = msgspec.structs.replace(k.unit, on=c.on, speed=c.speed, power=power)
        return Order(name, self._number, self.token, c.on, c.speed)


def _follows(wanted: Report, now: Report) -> bool:
    """Report whether a unit is as it was ordered; a fan may differ by 2 %."""
    return abs(wanted.speed - now.speed) <= 0.02 if wanted.variable else wanted.on == now.on
