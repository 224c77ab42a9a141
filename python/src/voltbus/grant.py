"""What an agent may do, and what that means on the bus."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from .errors import Refused
from .path import Pattern, token

__all__ = ["Call", "Command", "Grants", "Hold", "Standing", "Wants", "where_problem"]


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """The right to command points, down to the priority ``level``, between ``min`` and ``max``."""

    path: str
    level: int = 16
    min: float | None = None
    max: float | None = None


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """The right to call ``method`` of ``agent``; no method stands for all of them.

    ``where`` bounds arguments by name: a text is a pattern, ``{"min": 1, "max": 2}`` a range, a
    list the values that are allowed.
    """

    agent: str = ""
    method: str = ""
    where: dict[str, Any] = {}


class Hold(msgspec.Struct, frozen=True, omit_defaults=True):
    """A capability with a name, which methods can ask for."""

    name: str
    where: dict[str, Any] = {}


class Grants(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent may do, or would like to. Nothing is allowed by default.

    The lists hold patterns. In ``publish`` and ``subscribe`` a ``*`` is a whole segment and ``**``
    the last one, because the node's bus enforces them.
    """

    publish: list[str] = []
    record: list[str] = []
    subscribe: list[str] = []
    read: list[str] = []
    command: list[Command] = []
    call: list[Call] = []
    hold: list[Hold] = []
    administer: bool = False

    def may_record(self, path: str) -> bool:
        """Report whether samples of the point may be recorded."""
        return self.administer or any(Pattern(p).match(path) for p in self.record)

    def may_read(self, path: str) -> bool:
        """Report whether the point's history may be read."""
        return self.administer or any(Pattern(p).match(path) for p in self.read)

    def check(self) -> list[str]:
        """Return what is wrong with them, a sentence each."""
        return [
            f"{verb}: {pattern}: '*' must be a whole segment, and '**' the last one"
            for verb, patterns in (("publish", self.publish), ("subscribe", self.subscribe))
            for pattern in patterns
            if not Pattern(pattern).bare
        ]


Wants = Grants
"""What an agent asks for when it is installed; the administrator grants it, or less."""


class Bound(msgspec.Struct, frozen=True):
    """What a caller is bound to."""

    call: list[Call] = []
    hold: list[Hold] = []
    administer: bool = False


class Standing(msgspec.Struct, frozen=True):
    """The own grants, and what others who may call this agent are bound to."""

    version: int | str = 0
    grants: Grants = Grants()
    callers: dict[str, Bound] = {}


# -- subjects


def publish_subjects(name: str, grants: Grants) -> list[str]:
    """Return the subjects that the agent may publish on."""
    own = token(name)
    out = [f"msg.{own}.health", f"msg.{own}.alert.>", f"rpc.node.{own}.*"]
    if grants.administer:
        return [*out, "live.scan.>", "live.point.>", f"msg.{own}.>", f"rpc.*.{own}.*"]
    for pattern in grants.publish:
        out += _live(pattern) + [f"msg.{own}.{form}" for form in subjects_of(pattern)]
    for call in grants.call:
        method = token(call.method) if call.method else "*"
        out.append(f"rpc.{token(call.agent)}.{own}.{method}")
    return out


def subscribe_subjects(name: str, grants: Grants) -> list[str]:
    """Return the subjects that the agent may subscribe to."""
    own = token(name)
    out = [f"rpc.{own}.>", f"_INBOX.{own}.>", f"news.{own}.>"]
    if grants.administer:
        return [*out, "live.>", "msg.>"]
    for pattern in grants.subscribe:
        out += _live(pattern) + [f"msg.*.{form}" for form in subjects_of(pattern)]
    return out


def _live(pattern: str) -> list[str]:
    """A scan carries all points below its device: only a pattern that covers these gives scans."""
    forms = subjects_of(pattern)
    scans = [f"live.scan.{form}" for form in forms] if Pattern(pattern).deep else []
    return scans + [f"live.point.{form}" for form in forms]


def subjects_of(pattern: str) -> list[str]:
    """Return the tokens that stand for a pattern: for a branch both its top and all below."""
    pt = Pattern(pattern)
    tokens = ".".join(pt.tokens())
    if not pt.deep:
        return [tokens]
    return [tokens, f"{tokens}.>"] if tokens else [">"]


class Fence:
    """Decides whether a subject, wildcards included, lies within some subjects. Immutable."""

    def __init__(self, subjects: list[str]) -> None:
        self._allowed = [s.split(".") for s in subjects]
        self.admits = lru_cache(4096)(self._admits)

    def _admits(self, subject: str) -> bool:
        wanted = subject.split(".")
        return any(_within(wanted, allowed) for allowed in self._allowed)


def _within(wanted: list[str], allowed: list[str]) -> bool:
    for i, a in enumerate(allowed):
        if a == ">":
            return len(wanted) > i
        if i >= len(wanted) or wanted[i] == ">":
            return False
        if a not in ("*", wanted[i]):
            return False
    return len(wanted) == len(allowed)


# -- conditions on arguments


def where_problem(where: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return which argument breaks a condition, and how; empty if none does."""
    for name in sorted(where):
        if name not in arguments:
            return f"the argument {name} must be given, since it is restricted"
        problem = _condition(where[name], arguments[name])
        if problem:
            return f"the argument {name} {problem}"
    return ""


def _condition(condition: Any, value: Any) -> str:
    if isinstance(condition, str):
        fits = isinstance(value, str) and Pattern(condition).match(value)
        return "" if fits else f"must be a text that matches {condition}"
    if isinstance(condition, list):
        fits = any(value == v and isinstance(value, bool) == isinstance(v, bool) for v in condition)
        return "" if fits else f"must be one of {', '.join(map(str, condition))}"
    if not isinstance(condition, dict):
        return "has a condition that cannot be understood"
    low, high = condition.get("min"), condition.get("max")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Written so that a value that is no number (NaN) fits nowhere.
    if number and (low is None or value >= low) and (high is None or value <= high):
        return "" if value == value else "must be a number"  # noqa: PLR0124
    return f"must be a number {_span(low, high)}"


def _span(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"from {low} to {high}"
    if low is not None:
        return f"of at least {low}"
    return f"of at most {high}" if high is not None else "of any size"


def judge_call(bound: Bound | None, agent: str, method: str, arguments: Mapping[str, Any]) -> None:
    """Raise ``Refused`` unless what the caller is bound to covers this call."""
    capability = f"call {agent}:{method}"
    if bound is None:
        raise Refused(f"missing: {capability}", missing=capability)
    if bound.administer:
        return
    entries = [c.where for c in bound.call if c.method in ("", method)]
    _judge(entries, capability, arguments)


def judge_hold(bound: Bound | None, name: str, arguments: Mapping[str, Any]) -> None:
    """Raise ``Refused`` unless the caller holds the capability for these arguments."""
    capability = f"hold {name}"
    if bound is not None and bound.administer:
        return
    entries = [h.where for h in bound.hold if h.name == name] if bound is not None else []
    _judge(entries, capability, arguments)


def _judge(entries: list[dict[str, Any]], capability: str, arguments: Mapping[str, Any]) -> None:
    problem = ""
    for where in entries:
        problem = where_problem(where, arguments)
        if not problem:
            return
    text = f"missing: {capability}" + (f": {problem}" if problem else "")
    raise Refused(text, missing=capability)
