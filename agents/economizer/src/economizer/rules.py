"""What the temperatures and signals of an air handler say about its economizer. No bus, no clock.

The share of outdoor air follows from a heat balance of the mixing box:
(mixed - return) / (outdoor - return). Comparing it with what the damper was told, and what it was
told with what the weather allows, is the practice of

- S. Katipamula et al., Automated fault detection and diagnostics for outdoor-air ventilation systems
  and economizers, ASHRAE Transactions 105 (1), 1999;
- J. House, H. Vaezi-Nejad, J. Whitcomb, An expert rule set for fault detection in air-handling units,
  ASHRAE Transactions 107 (1), 2001;
- J. Schein, S. Bushby, N. Castro, J. House, A rule-based fault detection method for air handling units,
  Energy and Buildings 38 (12), 2006.

The rules below are of this kind, with tolerances of their own, and no copy of one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec


class Tolerance(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How far things may be off. Temperatures in K, shares and openings in % (points)."""

    sensor: float = 2.0  # how far the mix may lie outside outdoor and return air
    difference: float = 5.0  # outdoor to return air, below which the share says nothing
    changeover: float = 2.0  # by how much outdoor air must be cooler than return air to be used
    opening: float = 10.0  # a damper this close to its least or full opening is there
    share: float = 20.0  # how far the share of outdoor air may be from what is wanted
    little: float = 10.0  # how far it may be below the least share
    valve: float = 5.0  # a coil's valve that is open less counts as shut

    def problem(self) -> str:
        """Say what is wrong with it; empty if nothing is."""
        bad = [n for n in self.__struct_fields__ if not 0 < getattr(self, n) < 100]
        return f"{bad[0]} is a number above 0 and below 100" if bad else ""


@dataclass(frozen=True)
class State:
    """An air handler on average over some minutes, its fan on. Temperatures in °C, the rest in %."""

    outdoor: float
    mixed: float
    back: float  # the return air
    discharge: float
    damper: float  # the signal: how far the outdoor air damper should be open
    least: float  # outdoor air that is always wanted
    cooling: float  # opening of the cooling coil's valve
    heating: float

    def share(self) -> float:
        """Return the share of outdoor air in the mix, in %; outdoor must differ from return air."""
        return 100 * (self.mixed - self.back) / (self.outdoor - self.back)


@dataclass(frozen=True)
class Finding:
    """What one rule says: a fault with its text, or none. Not ``judged``: it could not tell."""

    fault: bool = False
    text: str = ""
    judged: bool = True


UNKNOWN = Finding(judged=False)
SOUND = Finding()

Rule = Callable[[State, Tolerance], Finding]


def sensors(s: State, t: Tolerance) -> Finding:
    """The mix of two airs is neither warmer nor colder than both."""
    low, high = sorted((s.outdoor, s.back))
    if low - t.sensor <= s.mixed <= high + t.sensor:
        return SOUND
    return Finding(
        True,
        f"mixed air of {s.mixed:.1f} °C is outside of outdoor {s.outdoor:.1f} and return"
        f" {s.back:.1f} °C: one of the three sensors is wrong."
        " Compare them with a thermometer; nothing else is judged.",
    )


def not_economizing(s: State, t: Tolerance) -> Finding:
    """While cooling costs energy, cooler outdoor air is used as far as there is any."""
    if s.cooling <= t.valve or s.heating > t.valve:
        return SOUND
    if s.outdoor >= s.back - t.changeover:
        return SOUND
    cost = f"cooling valve at {s.cooling:.0f} % with outdoor air of {s.outdoor:.1f} °C"
    if s.damper < 100 - t.opening:
        return Finding(
            True,
            f"{cost}, but the damper is told {s.damper:.0f} %."
            " Check the changeover's set point, its outdoor sensor, whether the economizer is enabled.",
        )
    if not telling(s, t):
        return UNKNOWN
    if s.share() < 100 - t.share - t.opening:
        return Finding(
            True,
            f"{cost}; the damper is told {s.damper:.0f} %, but outdoor air is only"
            f" {s.share():.0f} % of the mix. Check actuator, linkage and blades.",
        )
    return SOUND


def economizing(s: State, t: Tolerance) -> Finding:
    """Outdoor air beyond the least is let in only to cool, and only if it can."""
    if s.damper <= s.least + t.opening:
        return SOUND
    if s.heating > t.valve:
        why = f"the heating valve is at {s.heating:.0f} %"
    elif s.outdoor > s.back + t.changeover:
        why = f"outdoor air of {s.outdoor:.1f} °C is warmer than return air of {s.back:.1f} °C"
    else:
        return SOUND
    return Finding(
        True,
        f"the damper is told {s.damper:.0f} % (least {s.least:.0f} %) while {why}."
        " Check the changeover's set point and the order of heating, economizer and cooling.",
    )


def excess(s: State, t: Tolerance) -> Finding:
    """No more outdoor air comes in than the damper was told, if that has to be heated or cooled."""
    if not telling(s, t):
        return UNKNOWN
    least = s.damper <= s.least + t.opening
    if not least and s.heating <= t.valve and s.cooling <= t.valve:
        return SOUND
    if s.share() <= max(s.damper, s.least) + t.share:
        return SOUND
    return Finding(
        True,
        f"outdoor air is {s.share():.0f} % of the mix, the damper is told {s.damper:.0f} %"
        f" (outdoor {s.outdoor:.1f}, return {s.back:.1f}, mixed {s.mixed:.1f} °C)."
        " It is heated or cooled for nothing: look for a stuck blade, slipped linkage, leaking seals.",
    )


def insufficient(s: State, t: Tolerance) -> Finding:
    """The least outdoor air comes in, for the people in the building."""
    if s.least <= t.little or not telling(s, t):
        return UNKNOWN
    if s.share() >= s.least - t.little:
        return SOUND
    return Finding(
        True,
        f"outdoor air is {s.share():.0f} % of the mix, wanted are at least {s.least:.0f} %"
        f" (damper told {s.damper:.0f} %)."
        " Check that the damper opens, its least opening, and the intake for obstruction.",
    )


RULES: dict[str, Rule] = {
    "sensors": sensors,
    "not_economizing": not_economizing,
    "economizing": economizing,
    "excess_outdoor_air": excess,
    "insufficient_outdoor_air": insufficient,
}


def telling(s: State, t: Tolerance) -> bool:
    """Report whether outdoor and return air differ enough for the share to say something."""
    return abs(s.outdoor - s.back) >= t.difference


def judge(s: State, t: Tolerance) -> dict[str, Finding]:
    """Return what each rule says. Behind sensors that contradict each other nothing is judged."""
    first = sensors(s, t)
    if first.fault:
        return dict.fromkeys(RULES, UNKNOWN) | {"sensors": first}
    return {name: rule(s, t) for name, rule in RULES.items()}
