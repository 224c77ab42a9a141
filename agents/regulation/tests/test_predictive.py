"""Fans planned ahead by the solver, beside the rule that shares what is left alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest

from regulation.master import Master
from regulation.predictive import available, plan
from regulation.report import Answer, Model, Report

pytestmark = pytest.mark.skipif(not available(), reason="highspy is not installed")

BEGIN = datetime(2026, 7, 1, tzinfo=timezone.utc)
STEP = 60.0
CAPACITY = 2.0  # kW; 6 hold the temperatures


@dataclass
class Room:
    """A room of 1.5 kWh/K that a fan cools, at an outside of its own."""

    drift: float
    temp: float = 22.0
    speed: float = 0.6
    lost: float = 0.0  # K·h

    def report(self, i: int, now: datetime) -> Report:
        return Report(
            unit=f"r{i}",
            at=now,
            temperature=self.temp,
            low=21.5,
            high=22.5,
            rated=6.0,
            hold=6.0 * ((self.drift - 22) / 36) ** 3,
            power=6.0 * self.speed**3,
            variable=True,
            on=True,
            speed=self.speed,
            model=Model(1.5, 2.0, 3.0, self.drift),
        )

    def step(self) -> None:
        if self.temp > 22.5:  # what the unit does by itself
            self.speed = 1.0
        elif self.temp < 21.5:
            self.speed = 0.0
        keep = math.exp(-STEP / 3600 / 3.0)
        self.temp = keep * self.temp + (1 - keep) * (self.drift - 36 * self.speed)
        self.lost += max(0.0, self.temp - 22.5, 21.5 - self.temp) * STEP / 3600


def run(ahead: float) -> tuple[float, float]:
    """Follow a signal for two hours; return the mean error through the capacity, and K·h lost."""
    rooms = [Room(34.0 + 2.5 * i) for i in range(6)]
    master, errors = Master(CAPACITY, ahead=ahead), 0.0
    steps = int(2 * 3600 / STEP)
    for k in range(steps):
        now = BEGIN + timedelta(seconds=k * STEP)
        signal = 0.7 * math.sin(k / 9) + 0.3 * math.sin(k / 3.4)
        for i, r in enumerate(rooms):
            master.hear(r.report(i, now))
        orders, st = master.decide(now, signal)
        for o in orders:
            i = int(o.unit[1:])
            rooms[i].speed = o.speed
            master.answered(now, Answer(o.unit, o.number, "done", report=rooms[i].report(i, now)))
        for r in rooms:
            r.step()
        errors += abs(sum(6.0 * r.speed**3 for r in rooms) - st.target) / CAPACITY / steps
    return errors, sum(r.lost for r in rooms)


def test_planned_fans_keep_comfort_and_follow_the_signal() -> None:
    rule_error, rule_lost = run(0)
    error, lost = run(STEP)
    assert lost < min(1e-3, rule_lost)
    assert error < 0.02 < rule_error


def test_a_room_that_is_too_warm_gets_more_of_the_power() -> None:
    warm, cool = Room(40.0, temp=22.4), Room(40.0, temp=21.6)
    fans = [warm.report(0, BEGIN), cool.report(1, BEGIN)]
    first, second = plan(fans, 2.0, STEP)
    assert first > second
    assert 6 * first**3 + 6 * second**3 == pytest.approx(2.0, abs=0.3)
