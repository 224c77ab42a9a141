"""What people may set."""

from __future__ import annotations

import msgspec
from voltbus import Config


class Unit(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A unit: the points of its device, its band in °C, its power in kW, its lock-out in seconds."""

    low: float = 21.0
    high: float = 23.0
    rated: float = 5.0
    hold: float | None = None  # the power that holds the temperature; without it, it is learned
    heating: bool = False
    variable: bool = False  # the commanded point is the speed of a fan, from 0 to 1
    lockout: float = 180.0
    capacity: float | None = None  # of a fan's room, kWh/K; with resistance, for predictive control
    resistance: float | None = None  # K/kW
    cop: float = 3.0
    temp: str = "temp"
    command: str = "on"


class Settings(Config):
    """The group, the units of this node, and the signal.

    ``units`` are devices of this node. ``address`` orders the members: the smallest leads; without it
    the name of the agent. With ``master`` that address alone leads. ``capacity`` is what the signal 1
    asks of all units, in kW. ``signal`` is a point with the signal, from -1 to 1, positive where units
    have to take less; without it a test signal is followed. ``hear`` are topics of other nodes, as they
    are named here. With ``need``, in kW, the signal is that of several campuses, each a group of its
    own: the leaders tell each other what they can contribute, and each takes its part of the need,
    which is what the signal 1 asks of all. ``campuses`` are the topics of the others' offers, as they
    are named here. Times are in seconds.
    """

    group: str = "campus"
    address: str = ""
    master: str = ""
    units: dict[str, Unit] = {}
    capacity: float = 10.0
    signal: str = ""
    sway: float = 5400.0  # the period of the test signal
    hear: tuple[str, ...] = ()
    need: float = 0.0
    campuses: tuple[str, ...] = ()
    period: float = 600.0  # between two decisions
    beat: float = 10.0  # between two messages of a member
    silence: float = 50.0  # after which a member is taken for absent
    predictive: bool = False  # fans are planned ahead; it needs the extra "predictive"
    level: int = 12
    lease: float = 1800.0
