"""Model predictive control of fans: their speeds follow a power, and temperatures stay in their bands.

The room of a fan follows C·dT/dt = (D - T)/R ± COP·P·u with the speed u and the temperature D that it
goes to without the fan. Over some steps a linear program (solved by HiGHS) has the least sum of errors
of the power and of time outside of the bands. The power of a fan rises with the cube of its speed: it
is kept between the tangents and the chord of the cube, over a range of speeds that shrinks from one
program to the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .report import Model, Report
from .stack import LEAST

STEPS = 6  # of the horizon
REACHES = (0.5, 0.2, 0.07, 0.02)  # how far a speed may move in each of the linear programs
FADING = 0.6  # of what is asked beyond what holds the temperatures, from a step to the next one
LOST = 200.0  # kW that a kelvin outside of its band weighs
SETTLED = 0.05  # kW that a kelvin from the middle of its band weighs at the end


@dataclass
class _Fan:
    report: Report
    model: Model
    keep: float  # of the distance to the final temperature, over a step

    @classmethod
    def of(cls, r: Report, seconds: float) -> _Fan:
        assert r.model is not None
        keep = math.exp(-seconds / 3600 / (r.model.resistance * r.model.capacity))
        return cls(r, r.model, keep)

    @property
    def pull(self) -> float:
        """Return how far full speed moves the final temperature."""
        way = self.model.resistance * self.model.cop * self.report.rated
        return way if self.report.heating else -way

    def steady(self) -> float:
        """Return the speed that holds the middle of the band."""
        middle = (self.report.low + self.report.high) / 2
        return min(1.0, max(LEAST, (middle - self.model.drift) / self.pull))


def available() -> bool:
    """Tell whether the solver is installed."""
    try:
        import highspy  # noqa: F401 - an extra
    except ImportError:
        return False
    return True


def plan(fans: Sequence[Report], power: float, seconds: float) -> list[float]:
    """Return the speeds of fans now, so that together they take a power in kW for so many seconds.

    Each has a model. What is asked for later is not known: it fades to what holds the temperatures.
    """
    known = [_Fan.of(r, seconds) for r in fans]
    held = sum(f.report.rated * f.steady() ** 3 for f in known)
    asked = [held + (power - held) * FADING**k for k in range(STEPS)]
    speeds = [[min(1.0, max(LEAST, f.report.speed or f.steady()))] * STEPS for f in known]
    for reach in REACHES:
        speeds = _solve(known, asked, speeds, reach)
    return [s[0] for s in speeds]


def _solve(
    fans: list[_Fan], asked: list[float], around: list[list[float]], reach: float
) -> list[list[float]]:
    import highspy

    h: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    h.silent()
    free = highspy.kHighsInf
    speeds: list[list[Any]] = []
    powers: list[list[Any]] = [[] for _ in asked]
    for f, centre in zip(fans, around, strict=True):
        row = []
        temp: Any = f.report.temperature
        for k, u0 in enumerate(centre):
            low, high = max(LEAST, u0 - reach), min(1.0, u0 + reach)
            u, power = h.addVariable(lb=low, ub=high), h.addVariable(lb=0, ub=f.report.rated)
            for at in (low, u0, high):
                h.addConstr(power >= f.report.rated * (3 * at**2 * u - 2 * at**3))
            chord = low**2 + low * high + high**2
            h.addConstr(power <= f.report.rated * (chord * u + low**3 - chord * low))
            row.append(u)
            powers[k].append(power)
            after = h.addVariable(lb=-free, ub=free)
            out = h.addVariable(lb=0, ub=free, obj=LOST)
            h.addConstr(after == f.keep * temp + (1 - f.keep) * (f.model.drift + f.pull * u))
            h.addConstr(after - out <= f.report.high)
            h.addConstr(after + out >= f.report.low)
            temp = after
        off = h.addVariable(lb=0, ub=free, obj=SETTLED)
        middle = (f.report.low + f.report.high) / 2
        h.addConstr(temp - off <= middle)
        h.addConstr(temp + off >= middle)
        speeds.append(row)
    for wanted, parts in zip(asked, powers, strict=True):
        error = h.addVariable(lb=0, ub=free, obj=1)
        total = sum(parts[1:], parts[0])
        h.addConstr(total - error <= wanted)
        h.addConstr(total + error >= wanted)
    h.run()
    if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return around
    return [[float(h.val(u)) for u in row] for row in speeds]
