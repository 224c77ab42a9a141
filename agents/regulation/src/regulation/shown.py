"""What a member publishes for screens: itself, its units, and its decisions if it leads."""

from __future__ import annotations

from typing import Any

from .master import Status
from .member import Member
from .report import Report
from .unit import Local


def member(name: str, m: Member, silence: float) -> dict[str, Any]:
    """Return the points of a member, which the agent ``name`` is."""
    return {
        "agent": name,
        "leads": m.leads,
        "leader": m.token.leader,
        "term": m.token.term,
        "members": len(m.members()),
        "silence": silence,
    }


def reported(r: Report, address: str) -> dict[str, Any]:
    """Return the report of a unit, with the address of its member."""
    return {
        "member": address,
        "temperature": r.temperature,
        "low": r.low,
        "high": r.high,
        "position": r.position,
        "on": r.on,
        "power": r.power,
        "free": r.free,
    }


def unit(u: Local, r: Report, address: str) -> dict[str, Any]:
    """Return the points of a unit, with the address of its member."""
    return {
        **reported(r, address),
        "switches": u.switches,
        "discomfort": u.discomfort,
    }


def decision(st: Status) -> dict[str, Any]:
    """Return the points of what a leader decided."""
    return {
        "signal": st.signal,
        "response": response(st),
        "target": st.target,
        "baseline": st.baseline,
        "power": st.power,
        "capacity": st.capacity,
        "more": st.more,
        "less": st.less,
        "orders": st.orders,
    }


def response(s: Status) -> float:
    """Return what was answered to the signal, as a share of the capacity."""
    return (s.baseline - s.expected) / s.capacity if s.capacity > 0 else 0.0
