"""Choose which units change, so that their power meets a target with the least discomfort.

A stack of priorities, as in Hao, Sanandaji, Poolla and Vincent (IEEE Transactions on Power Systems 30,
2015): the unit that would switch by itself next comes first. The rules are those of the Go package
``regulation/stack``; both are tested with the cases there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from .report import Report

RESERVE = 0.1  # of the band: units that would switch back by themselves at once are left alone
LEAST = 0.2  # speed below which a fan is not turned down, for fresh air


@dataclass
class Change:
    """What the unit at a place of the list has to do."""

    unit: int
    on: bool
    speed: float = 0.0


@dataclass
class Decision:
    """The changes, the power after them, and how far it could still rise and fall then."""

    changes: list[Change] = field(default_factory=list)
    expected: float = 0.0
    more: float = 0.0
    less: float = 0.0


def room(u: Report) -> tuple[float, float]:
    """Return by how much a unit could raise and lower its power now."""
    p = u.position
    if u.free > 0:
        return 0.0, 0.0
    if u.variable:
        more = max(0.0, u.rated - u.power) if p > 0 else 0.0
        return more, max(0.0, u.power - u.rated * LEAST**3) if p < 1 else 0.0
    if u.on and p < 1 - RESERVE:
        return 0.0, u.power
    if not u.on and p > RESERVE:
        return u.rated, 0.0
    return 0.0, 0.0


def decide(units: Sequence[Report], target: float) -> Decision:
    """Bring the power of all units to the target; fans take what on/off units leave."""
    d = Decision(expected=sum(u.power for u in units))
    up = target > d.expected
    heap: list[tuple[float, int]] = []
    for i, u in enumerate(units):
        more, less = room(u)
        d.more, d.less = d.more + more, d.less + less
        if not u.variable and (more if up else less) > 0:
            heap.append((-u.position if up else u.position, i))
    heapq.heapify(heap)
    while heap:
        u = units[heap[0][1]]
        missing = target - d.expected if up else d.expected - target
        if (
            missing < u.rated / 2
        ):  # it would overshoot by more than it brings nearer; a smaller one may fit
            if missing < u.rated / 8 or not any(units[i].rated <= 2 * missing for _, i in heap[:8]):
                break
            heapq.heappop(heap)
            continue
        i = heapq.heappop(heap)[1]
        d.changes.append(Change(i, up))
        by = u.rated - u.power if up else u.power
        if up:
            d.expected, d.more = d.expected + by, d.more - by
        else:
            d.expected, d.less = d.expected - by, d.less - by
    _spread(d, units, target - d.expected)
    return d


def _spread(d: Decision, units: Sequence[Report], missing: float) -> None:
    """Divide what is missing among the fans, each the same share of what it can."""
    toward = {i: room(u)[0 if missing > 0 else 1] for i, u in enumerate(units) if u.variable}
    total = sum(toward.values())
    if total == 0 or missing == 0:
        return
    share = min(1.0, abs(missing) / total)
    for i, can in toward.items():
        by = math.copysign(share * can, missing)
        if by != 0:
            u = units[i]
            d.changes.append(Change(i, True, min(1.0, max(0.0, (u.power + by) / u.rated)) ** (1 / 3)))
            d.expected, d.more, d.less = d.expected + by, d.more - by, d.less + by
