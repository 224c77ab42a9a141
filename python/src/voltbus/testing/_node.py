"""What a node answers to agents, in memory."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from .. import _call, _json
from .._history import moment
from .._protocol import Raw
from ..document import content_of
from ..errors import Conflict, Error, Invalid, NotFound, Refused
from ..grant import Bound, Standing
from ..model import Alert, Document, Sample
from ..path import Pattern, parse_subject, parse_token, token
from ._control import Control
from ._server import Server

MOST = 100_000


class NodeMethods:
    """Answers the methods of the node. ``handlers`` holds them by name."""

    def __init__(self, server: Server, now: Callable[[], datetime], name: str) -> None:
        self._server = server
        self._now = now
        self._name = name
        self._keys: dict[tuple[str, str], tuple[list[Any], int]] = {}
        self._units: dict[str, str] = {}
        self.recorded: list[Sample] = []
        self._by_point: dict[str, list[Sample]] = {}
        self._indexed = 0  # how many of the recorded samples are in it
        self.alerts: dict[tuple[str, str], Alert] = {}
        self.cleared: list[tuple[str, str]] = []
        self.health: dict[str, dict[str, Any]] = {}
        self.refusals: list[dict[str, Any]] = []
        self.documents: dict[tuple[str, str], list[Document]] = {}
        self.handlers: dict[str, Callable[..., Any]] = {
            "hello": self._hello,
            "standing": self.standing,
            "record": self._record,
            "points": self._points,
            "latest": self._latest,
            "range": self._range,
            "aggregate": self._aggregate,
            "peers": self._peers,
            "refused": self._refused,
            "config_list": self._config_list,
            "config_get": self._config_get,
            "config_set": self._config_set,
            "config_delete": self._config_delete,
            "config_history": self._config_history,
        }
        self.control = Control(now, lambda name: server.keys[name])
        self.handlers |= self.control.handlers
        server.answer = self.answer

    async def answer(self, by: str, method: str, raw: Raw) -> bytes:
        """Answer one request."""
        try:
            handler = self.handlers.get(method)
            if handler is None:
                raise NotFound("the node has no such method", subject=method)
            asked = _call.asked(raw)
            if asked.args:
                raise Invalid("methods of the node take arguments by name only", subject=method)
            try:
                return _call.result(handler(by, **asked.kwargs))
            except TypeError as e:
                raise Invalid(str(e), subject=method) from None
        except Error as e:
            return _call.error(e)

    def standing(self, name: str) -> Standing:
        """Return what an agent may do, and what its callers are bound to."""
        callers = {}
        for other, grants in self._server.keys.items():
            calls = [c for c in grants.call if c.agent == name]
            if calls or grants.administer:
                callers[other] = Bound(calls, grants.hold, grants.administer)
        return Standing(1, self._server.keys[name], callers)

    def _hello(self, by: str, **facts: Any) -> dict[str, Any]:
        now = moment(self._now())
        return {"node": self._name, "name": by, "time": now, "standing": self.standing(by)}

    # -- samples

    def _record(self, by: str, samples: list[dict[str, Any]], key: str = "") -> dict[str, Any]:
        if len(samples) > MOST:
            raise Invalid(f"at most {MOST} samples go into one request")
        if key and (by, key) in self._keys:
            before, count = self._keys[by, key]
            if before != samples:
                message = "this key came with other samples before; choose a new key"
                raise Conflict(message, subject=key)
            return {"accepted": count}
        taken: list[Sample] = []
        refused: list[tuple[int, str]] = []
        broken: list[tuple[int, str]] = []
        for i, one in enumerate(samples):
            try:
                sample = msgspec.convert(one, Sample)
            except msgspec.ValidationError as e:
                broken.append((i, str(e)))
                continue
            if not self._server.keys[by].may_record(sample.point):
                refused.append((i, f"missing: record {sample.point}"))
            taken.append(msgspec.structs.replace(sample, value=_json.value_of(sample.value)))
        if broken:
            raise Invalid("some samples cannot be recorded", problems=tuple(broken))
        if refused:
            missing = refused[0][1].removeprefix("missing: ")
            raise Refused(f"missing: {missing}", missing=missing, problems=tuple(refused))
        self.recorded += taken
        self._units |= {one["point"]: one["unit"] for one in samples if one.get("unit")}
        if key:
            self._keys[by, key] = (samples, len(taken))
        return {"accepted": len(taken)}

    def _select(self, by: str, points: list[str] | None, pattern: str | None) -> list[str]:
        known = sorted(self._index())
        grants = self._server.keys[by]
        if points is None:
            wanted = Pattern(pattern or "")
            return [p for p in known if wanted.match(p) and grants.may_read(p)]
        for p in points:
            if not grants.may_read(p):
                raise Refused(f"missing: read {p}", missing=f"read {p}")
        return list(points)

    def _points(
        self, by: str, pattern: str = "", search: str = "", limit: int = 1000, after: str = ""
    ) -> dict[str, Any]:
        found = [p for p in self._select(by, None, pattern) if search in p and p > after]
        points = [
            {"path": p, "kind": _kind(self._of(p)[-1].value), "unit": self._units.get(p, "")}
            for p in found[:limit]
        ]
        return {"points": points, "next": found[limit - 1] if len(found) > limit else ""}

    def _index(self) -> dict[str, list[Sample]]:
        """Return what is recorded by point, in the order of time."""
        for s in self.recorded[self._indexed :]:
            rows = self._by_point.setdefault(s.point, [])
            if not rows or rows[-1].time <= s.time:
                rows.append(s)
            else:
                bisect.insort(rows, s, key=lambda one: one.time)
        self._indexed = len(self.recorded)
        return self._by_point

    def _of(self, point: str) -> list[Sample]:
        return self._index().get(point, [])

    def _latest(
        self,
        by: str,
        points: list[str] | None = None,
        pattern: str | None = None,
        local: bool = False,
    ) -> dict[str, Any]:
        rows = [self._of(p)[-1:] for p in self._select(by, points, pattern)]
        return {"samples": [_plain(s) | {"kind": _kind(s.value)} for row in rows for s in row]}

    def _within(
        self, by: str, points: list[str] | None, pattern: str | None, span: dict[str, Any]
    ) -> tuple[datetime, datetime, dict[str, list[Sample]]]:
        start = _time(span.get("from"), "from")
        end = _time(span["to"], "to") if span.get("to") else self._now()
        if end < start:
            raise Invalid("the range ends before it begins")
        names = self._select(by, points, pattern)
        return start, end, {p: [s for s in self._of(p) if start <= s.time < end] for p in names}

    def _range(
        self,
        by: str,
        points: list[str] | None = None,
        pattern: str | None = None,
        limit: int = MOST,
        after: str = "",
        local: bool = False,
        **span: Any,
    ) -> dict[str, Any]:
        start, end, rows = self._within(by, points, pattern, span)
        series = [
            {
                "point": p,
                "unit": "",
                "kind": _kind(found[0].value) if found else "none",
                "samples": [_tuple(s) for s in found[:limit]],
                "expected": None,
                "present": len(found),
                "bad": sum(not s.good for s in found),
                "truncated": len(found) > limit,
            }
            for p, found in rows.items()
            if p > after
        ]
        return {"series": series, "completeness": None, "from": start, "to": end, "next": ""}

    def _aggregate(  # noqa: PLR0913 - the arguments of the method
        self,
        by: str,
        step: str = "",
        points: list[str] | None = None,
        pattern: str | None = None,
        functions: list[str] | None = None,
        zone: str = "",
        local: bool = False,
        **span: Any,
    ) -> dict[str, Any]:
        start, _, rows = self._within(by, points, pattern, span)
        if zone or functions:
            raise Invalid("the bus in memory knows neither zones nor further functions")
        width = _seconds(step)
        series = []
        for p, found in rows.items():
            cells: dict[int, list[Sample]] = {}
            for s in found:
                cells.setdefault(int((s.time - start).total_seconds() // width), []).append(s)
            buckets = [_bucket(start, width, n, cells[n]) for n in sorted(cells)]
            series.append({"point": p, "buckets": buckets, "present": len(found)})
        return {"series": series, "completeness": None, "step": width, "next": ""}

    # -- agents

    def _peers(self, by: str) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "online": name in self._server.members,
                "status": self.health.get(name, {}).get("status", "unknown"),
                "context": self.health.get(name, {}).get("context"),
            }
            for name in sorted(self._server.keys)
        ]

    def _refused(self, by: str, **facts: Any) -> None:
        self.refusals.append({"by": by} | facts)

    def hear(self, raw: Raw) -> None:
        """Take note of health and alerts."""
        parts = raw.subject.split(".", 3)
        if parts[0] != "msg" or len(parts) < 3:
            return
        sender = parse_token(parts[1])
        if parts[2] == "health" and len(parts) == 3:
            self.health[sender] = _json.decode(raw.data)
        elif parts[2] == "alert" and len(parts) == 4:
            self._hear_alert(sender, parse_subject(parts[3]), _json.decode(raw.data))

    def _hear_alert(self, sender: str, key: str, body: dict[str, Any]) -> None:
        if not body.get("cleared"):
            self.alerts[sender, key] = msgspec.convert(body, Alert)
        elif self.alerts.pop((sender, key), None):
            self.cleared.append((sender, key))

    # -- documents

    def _owner(self, by: str, owner: str, *, write: bool = False) -> str:
        own = f"agent/{by}"
        owner = owner or own
        open_to_all = owner == own or (owner == "shared" and not write)
        if not open_to_all and not self._server.keys[by].administer:
            raise Refused("missing: administer", missing="administer", subject=owner)
        return owner

    def _config_list(self, by: str, owner: str = "") -> list[dict[str, Any]]:
        owner = self._owner(by, owner)
        newest = [v[-1] for (o, _), v in sorted(self.documents.items()) if o == owner]
        return [_head(d) for d in newest if not d.deleted]

    def _versions(self, owner: str, name: str) -> list[Document]:
        versions = self.documents.get((owner, name.lower()))
        if not versions:
            raise NotFound("there is no such document", subject=f"{owner} {name}")
        return versions

    def _config_get(self, by: str, name: str, owner: str = "", version: int = 0) -> dict[str, Any]:
        owner = self._owner(by, owner)
        versions = self._versions(owner, name)
        if not version and versions[-1].deleted:
            raise NotFound("the document was deleted", subject=f"{owner} {name}")
        found = [d for d in versions if d.version == version] if version else versions[-1:]
        if not found:
            raise NotFound("there is no such version", subject=f"{owner} {name} {version}")
        return _head(found[0]) | {"text": found[0].text, "content": content_of(found[0])}

    def _config_set(  # noqa: PLR0913 - as the question
        self,
        by: str,
        name: str,
        text: str,
        type: str = "json",
        owner: str = "",
        note: str = "",
        expect: int | None = None,
    ) -> dict[str, Any]:
        owner = self._owner(by, owner, write=True)
        return self.write(owner, name, text, type=type, by=f"agent:{by}", note=note, expect=expect)

    def write(  # noqa: PLR0913 - as the question
        self,
        owner: str,
        name: str,
        text: str,
        *,
        type: str = "json",
        by: str = "node",
        note: str = "",
        expect: int | None = None,
    ) -> dict[str, Any]:
        """Write a version, and tell the owner."""
        versions = self.documents.setdefault((owner, name.lower()), [])
        now = versions[-1] if versions and not versions[-1].deleted else None
        if expect is not None and expect != (now.version if now else 0):
            raise Conflict(f"the newest version is {len(versions)}", subject=f"{owner} {name}")
        if now is not None and (now.text, now.type) == (text, type):
            return _head(now)
        document = Document(owner, name, len(versions) + 1, type, text, None, by, self._now(), note)
        try:
            content_of(document)
        except Invalid:
            if not versions:
                del self.documents[owner, name.lower()]
            raise
        versions.append(document)
        self._announce(document, "set")
        return _head(document)

    def _config_delete(self, by: str, name: str, owner: str = "") -> dict[str, Any]:
        return self.erase(self._owner(by, owner, write=True), name, f"agent:{by}")

    def erase(self, owner: str, name: str, by: str = "node") -> dict[str, Any]:
        """Delete a document, and tell the owner."""
        versions = self._versions(owner, name)
        document = Document(owner, name, len(versions) + 1, by=by, at=self._now(), deleted=True)
        versions.append(document)
        self._announce(document, "delete")
        return _head(document)

    def _config_history(self, by: str, name: str, owner: str = "") -> list[dict[str, Any]]:
        return [_head(d) for d in reversed(self._versions(self._owner(by, owner), name))]

    def _announce(self, d: Document, action: str) -> None:
        news = {"owner": d.owner, "name": d.name, "action": action, "version": d.version}
        for name in self._server.members:
            if d.owner in ("shared", f"agent/{name}"):
                self.tell(name, "config", news)

    def tell(self, name: str, kind: str, body: Any = None) -> None:
        """Send news to an agent."""
        data = _json.encode(body) if body is not None else b""
        self._server.route(Raw(f"news.{token(name)}.{kind}", "", b"", data))


def _head(d: Document) -> dict[str, Any]:
    keys = ("owner", "name", "version", "type", "by", "at", "note", "deleted")
    return {k: getattr(d, k) for k in keys}


def _kind(value: Any) -> str:
    names = {bool: "bool", int: "int", float: "float", str: "text"}
    return names.get(type(value), "none")


def _plain(s: Sample) -> dict[str, Any]:
    return {"point": s.point, "time": moment(s.time), "value": s.value, "quality": s.quality}


def _tuple(s: Sample) -> list[Any]:
    row = [s.time.timestamp() * 1000, s.value]
    return row if s.good else [*row, s.quality]


def _time(text: Any, name: str) -> datetime:
    try:
        time = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        raise Invalid(f"{name} is no time; write one such as 2026-01-02T03:04:05Z") from None
    if time.tzinfo is None:
        raise Invalid(f"{name} has no time zone; write Z behind it")
    return time


def _seconds(step: str) -> float:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    try:
        return float(step[:-1]) * units[step[-1:]]
    except (KeyError, ValueError):
        raise Invalid("the step is a number and s, m, h or d, such as 15m") from None


def _bucket(start: datetime, width: float, n: int, cell: list[Sample]) -> dict[str, Any]:
    from datetime import timedelta

    numbers = [float(s.value) for s in cell if isinstance(s.value, (int, float))]
    begin = start + timedelta(seconds=n * width)
    out: dict[str, Any] = {"start": begin, "end": begin + timedelta(seconds=width)}
    out |= {"count": len(numbers), "bad": sum(not s.good for s in cell)}
    if numbers:
        total = sum(numbers)
        out |= {"mean": total / len(numbers), "min": min(numbers), "max": max(numbers)}
        out |= {"sum": total, "first": numbers[0], "last": numbers[-1]}
    return out
