"""What agents may ask the node for: a method for each operation, as the node declares it.

Written by ``go generate ./operation/openapi`` from the declarations. ``bus.operations`` has these
methods; what is left out is None. An answer is a dictionary as JSON has it; its times are texts.
With ``node`` another node is asked, as far as it lets who asks from here.
"""

# ruff: noqa: PLR0913 - operations have as many arguments as they have
from __future__ import annotations

from typing import Any, TypedDict

from ._asking import Asking


class Operations:
    """The operations of a node, for the agent of a bus."""

    def __init__(self, bus: Asking) -> None:
        self._bus = bus

    async def _ask(self, method: str, given: dict[str, Any], node: str, timeout: float) -> Any:
        ask = {name: value for name, value in given.items() if value is not None}
        callee = f"{node}/node" if node else "node"
        return await self._bus.request(callee, method, (), ask, timeout=timeout)

    async def control_cancel(
        self,
        *,
        task: str,
        node: str = "",
        timeout: float = 30,
    ) -> ControlDecided:
        """End a reservation and the commands made under it.

        That of somebody else needs the role engineer.
        """
        given: dict[str, Any] = {
            "task": task,
        }
        answer: ControlDecided = await self._ask("cancel", given, node, timeout)
        return answer

    async def control_command(
        self,
        *,
        commands: list[NewCommand] | None = None,
        wait: float | None = None,
        node: str = "",
        timeout: float = 90,
    ) -> CommandResults:
        """Set points.

        Levels 8 to 16 need the role operator, 5 to 7 engineer, 1 to 4 administrator. Each
        command is decided and answered by itself: a refusal of one is in its result, and the
        answer is still 200. A command holds its level until it is released or its lease ends. A
        repeat with the same identifier gets the first answer and is not carried out again;
        without one the header Idempotency-Key names it, else the node chooses one.
        ``wait``: Seconds to wait for what devices say; 0 to wait only until it is decided and
        kept.
        """
        given: dict[str, Any] = {
            "commands": commands,
            "wait": wait,
        }
        answer: CommandResults = await self._ask("set_many", given, node, timeout)
        return answer

    async def control_get(
        self,
        *,
        points: list[str],
        node: str = "",
        timeout: float = 30,
    ) -> ControlReadings:
        """Read points from their devices now."""
        given: dict[str, Any] = {
            "points": points,
        }
        answer: ControlReadings = await self._ask("get", given, node, timeout)
        return answer

    async def control_release(
        self,
        *,
        requester: str | None = None,
        point: str | None = None,
        id: str | None = None,
        level: int | None = None,
        task: str | None = None,
        all: bool | None = None,
        lease: float | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> ControlDecided:
        """End commands, so that points follow the next level or go back.

        Name what is to end, or all for everything of the requester, reservations included. What
        somebody else holds needs the role engineer.
        ``requester``: Another one, such as agent:tune.
        ``point``: With those below it, of a device or branch.
        ``level``: From 1 to 16.
        ``all``: Of a release: every command and every reservation.
        ``lease``: Of a renewal: seconds from now; without it as long as each was.
        """
        given: dict[str, Any] = {
            "requester": requester,
            "point": point,
            "id": id,
            "level": level,
            "task": task,
            "all": all,
            "lease": lease,
        }
        answer: ControlDecided = await self._ask("release", given, node, timeout)
        return answer

    async def control_renew(
        self,
        *,
        requester: str | None = None,
        point: str | None = None,
        id: str | None = None,
        level: int | None = None,
        task: str | None = None,
        all: bool | None = None,
        lease: float | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> ControlDecided:
        """Give own leases a new length from now on.

        ``requester``: Another one, such as agent:tune.
        ``point``: With those below it, of a device or branch.
        ``level``: From 1 to 16.
        ``all``: Of a release: every command and every reservation.
        ``lease``: Of a renewal: seconds from now; without it as long as each was.
        """
        given: dict[str, Any] = {
            "requester": requester,
            "point": point,
            "id": id,
            "level": level,
            "task": task,
            "all": all,
            "lease": lease,
        }
        answer: ControlDecided = await self._ask("renew", given, node, timeout)
        return answer

    async def control_reserve(
        self,
        *,
        id: str | None = None,
        task: str | None = None,
        priority: str | None = None,
        reason: str | None = None,
        windows: list[ControlWindow] | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> ControlDecided:
        """Reserve points, devices or branches for times, all or none.

        A conflict is answered with 409, and the windows that stand in the way in holders.
        ``id``: Unique for who asks: a repeat gets the first answer.
        ``task``: Its name.
        ``priority``: high: gives way to nobody and takes the place of others; low: gives way
        until it begins; low-preempt: always gives way.
        """
        given: dict[str, Any] = {
            "id": id,
            "task": task,
            "priority": priority,
            "reason": reason,
            "windows": windows,
        }
        answer: ControlDecided = await self._ask("reserve", given, node, timeout)
        return answer

    async def control_revert(
        self,
        *,
        path: str | None = None,
        spread: float | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> ControlDecided:
        """End every command of a point, device or branch, whoever made it, so that points go back.

        It needs the role engineer. With spread the points go back one after the other. A
        command that is made after the request stays. Reservations and overrides stay.
        ``path``: With those below it, of a device or branch.
        ``spread``: Seconds over which the points go back; without it all go back now.
        """
        given: dict[str, Any] = {
            "path": path,
            "spread": spread,
        }
        answer: ControlDecided = await self._ask("revert", given, node, timeout)
        return answer

    async def control_set(
        self,
        *,
        id: str | None = None,
        point: str | None = None,
        value: Any | None = None,
        level: int | None = None,
        lease: float | None = None,
        reason: str | None = None,
        task: str | None = None,
        wait: float | None = None,
        node: str = "",
        timeout: float = 90,
    ) -> Commanded:
        """Set a point, and wait for what its device says; a repeat of the id gets the first answer.

        ``id``: Unique for who asks, at most 255 bytes: a repeat gets the first answer.
        ``point``: Needed.
        ``value``: Needed: a number, true, false or a text.
        ``level``: From 1, the most urgent, to 16: the smallest wins; left out: 8, of agents 16.
        ``lease``: Seconds after which it ends by itself; without it when it is released.
        ``reason``: For people.
        ``task``: The own reservation that it belongs to.
        """
        given: dict[str, Any] = {
            "id": id,
            "point": point,
            "value": value,
            "level": level,
            "lease": lease,
            "reason": reason,
            "task": task,
            "wait": wait,
        }
        answer: Commanded = await self._ask("set", given, node, timeout)
        return answer

    async def control_tasks(
        self,
        *,
        path: str | None = None,
        from_: str | int | None = None,
        to: str | int | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> ControlTasks:
        """The reservations that touch a path and a time.

        ``path``: Only with windows above, at or below it.
        """
        given: dict[str, Any] = {
            "path": path,
            "from": from_,
            "to": to,
        }
        answer: ControlTasks = await self._ask("schedule", given, node, timeout)
        return answer

    async def control_who(
        self,
        *,
        path: str,
        node: str = "",
        timeout: float = 30,
    ) -> WhoHolds:
        """Who holds a point, a device or a branch, until when and why."""
        given: dict[str, Any] = {
            "path": path,
        }
        answer: WhoHolds = await self._ask("who", given, node, timeout)
        return answer

    async def document_delete(
        self,
        *,
        name: str,
        owner: str | None = None,
        expect: int | None = None,
        note: str | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> None:
        """Delete a document, whose history stays.

        ``owner``: agent/<name>, device/<path> or shared.
        ``expect``: The version that is meant to go; whatever is there if left out.
        ``note``: Why, for the history.
        """
        given: dict[str, Any] = {
            "owner": owner,
            "name": name,
            "expect": expect,
            "note": note,
        }
        await self._ask("config_delete", given, node, timeout)

    async def document_get(
        self,
        *,
        name: str,
        owner: str | None = None,
        version: int | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Document:
        """Read a configuration document.

        ``owner``: agent/<name>, device/<path> or shared.
        ``version``: The newest if left out.
        """
        given: dict[str, Any] = {
            "owner": owner,
            "name": name,
            "version": version,
        }
        answer: Document = await self._ask("config_get", given, node, timeout)
        return answer

    async def document_history(
        self,
        *,
        name: str,
        owner: str | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Documents:
        """List the versions of a document.

        ``owner``: agent/<name>, device/<path> or shared.
        """
        given: dict[str, Any] = {
            "owner": owner,
            "name": name,
        }
        answer: Documents = await self._ask("config_history", given, node, timeout)
        return answer

    async def document_list(
        self,
        *,
        owner: str | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Documents:
        """List configuration documents without their texts.

        ``owner``: agent/<name>, device/<path> or shared; all if left out.
        """
        given: dict[str, Any] = {
            "owner": owner,
        }
        answer: Documents = await self._ask("config_list", given, node, timeout)
        return answer

    async def document_set(
        self,
        *,
        name: str,
        text: str,
        type: str,
        owner: str | None = None,
        note: str | None = None,
        expect: int | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Document:
        """Write a document as a new version.

        400 with all problems if the content is wrong; 409 if expect is another version, or if a
        document that refers to this one would become wrong.
        ``owner``: agent/<name>, device/<path> or shared.
        ``note``: Why, for the history.
        ``expect``: The version that the text was made from, 0 for a document that is not there,
        -1 for whatever.
        """
        given: dict[str, Any] = {
            "owner": owner,
            "name": name,
            "text": text,
            "type": type,
            "note": note,
            "expect": expect,
        }
        answer: Document = await self._ask("config_set", given, node, timeout)
        return answer

    async def history_aggregate(
        self,
        *,
        points: list[str] | None = None,
        pattern: str | None = None,
        from_: str | int | None = None,
        to: str | int | None = None,
        step: str | None = None,
        zone: str | None = None,
        functions: list[str] | None = None,
        page: int | None = None,
        after: str | None = None,
        local: bool | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Aggregate:
        """Summarise a time in steps; bad samples are only counted.

        Without a zone steps begin at from, and days, weeks and months are of UTC. With one they
        lie at its round local times: a day may have 23 or 25 hours. The first and the last
        bucket know only what lies between from and to. A query that would read or answer too
        much is refused at once, with what to ask instead. `timeweighted` is the mean in which
        each value counts until the next one, and at most three intervals of the point, or a day
        if its interval is unknown; bad samples end it. Percentiles are exact, interpolated
        between two samples. `stddev` is that of all samples of a bucket.
        ``points``: A path, repeated for several; not together with pattern.
        ``from_``: Such as 2026-01-31T12:00:00Z, now-1h, or milliseconds since 1970.
        ``step``: A number with ms, s, m, h, d, w, mo, q or y.
        ``zone``: A time zone of the IANA database, such as Europe/Berlin.
        ``functions``: Figures that the buckets give as values, separated by commas: mean, min,
        max, sum, count, first, last, timeweighted, stddev, median, p0 to p100 such as p95 or
        p99.9.
        ``page``: With pattern: most points of one answer.
        ``after``: The next of the page before.
        ``local``: Answer from this node's store alone. Otherwise nodes below are asked for what
        they did not send yet, for at most two seconds (half a second for newest samples, 20
        seconds for an export), and sources says how that went.
        """
        given: dict[str, Any] = {
            "points": points,
            "pattern": pattern,
            "from": from_,
            "to": to,
            "step": step,
            "zone": zone,
            "functions": functions,
            "page": page,
            "after": after,
            "local": local,
        }
        answer: Aggregate = await self._ask("aggregate", given, node, timeout)
        return answer

    async def history_latest(
        self,
        *,
        points: list[str] | None = None,
        pattern: str | None = None,
        local: bool | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Latest:
        """Read the newest sample of each point that has any.

        ``points``: A path, repeated for several; not together with pattern.
        ``local``: Answer from this node's store alone. Otherwise nodes below are asked for what
        they did not send yet, for at most two seconds (half a second for newest samples, 20
        seconds for an export), and sources says how that went.
        """
        given: dict[str, Any] = {
            "points": points,
            "pattern": pattern,
            "local": local,
        }
        answer: Latest = await self._ask("latest", given, node, timeout)
        return answer

    async def history_range(
        self,
        *,
        points: list[str] | None = None,
        pattern: str | None = None,
        from_: str | int | None = None,
        to: str | int | None = None,
        limit: int | None = None,
        newest: bool | None = None,
        page: int | None = None,
        after: str | None = None,
        local: bool | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Range:
        """Read the samples with from ≤ time < to.

        ``points``: A path, repeated for several; not together with pattern.
        ``from_``: Such as 2026-01-31T12:00:00Z, now-1h, or milliseconds since 1970.
        ``limit``: Most samples of a point.
        ``newest``: With limit: the newest samples instead of the oldest.
        ``page``: With pattern: most points of one answer.
        ``after``: The next of the page before.
        ``local``: Answer from this node's store alone. Otherwise nodes below are asked for what
        they did not send yet, for at most two seconds (half a second for newest samples, 20
        seconds for an export), and sources says how that went.
        """
        given: dict[str, Any] = {
            "points": points,
            "pattern": pattern,
            "from": from_,
            "to": to,
            "limit": limit,
            "newest": newest,
            "page": page,
            "after": after,
            "local": local,
        }
        answer: Range = await self._ask("range", given, node, timeout)
        return answer

    async def points_list(
        self,
        *,
        pattern: str | None = None,
        search: str | None = None,
        tags: dict[str, str] | None = None,
        unit: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        node: str = "",
        timeout: float = 30,
    ) -> Points:
        """List points in path order, in pages.

        ``search``: Text in path, description or unit, whatever its case.
        ``tags``: name=value, repeated for several; an empty value stands for any.
        ``after``: The next of the page before.
        """
        given: dict[str, Any] = {
            "pattern": pattern,
            "search": search,
            "tags": tags,
            "unit": unit,
            "limit": limit,
            "after": after,
        }
        answer: Points = await self._ask("points", given, node, timeout)
        return answer


Aggregate = TypedDict(
    "Aggregate",
    {
        "series": "list[Summary]",
        "completeness": "float | None",
        "from": "str",
        "to": "str",
        "step": "float",
        "step_name": "str",
        "zone": "str",
        "next": "str",
        "sources": "list[Source]",
    },
    total=False,
)


class Bucket(TypedDict, total=False):
    """Bucket of an answer, or of an argument."""

    start: str
    end: str
    count: int
    bad: int
    expected: int | None
    mean: float | None
    min: float | None
    max: float | None
    sum: float | None
    first: float | None
    last: float | None
    values: dict[str, float | None]


class CommandResults(TypedDict, total=False):
    """CommandResults of an answer, or of an argument."""

    results: list[Commanded]


class Commanded(TypedDict, total=False):
    """Commanded of an answer, or of an argument."""

    id: str
    point: str
    status: str
    wins: bool
    until: str | None
    later: str | None
    repeat: bool
    output: str
    reported: Any
    error: ControlError | None


class ControlDecided(TypedDict, total=False):
    """ControlDecided of an answer, or of an argument."""

    status: str
    until: str | None
    lost: list[ControlHolder]
    points: int


class ControlError(TypedDict, total=False):
    """ControlError of an answer, or of an argument."""

    kind: str
    message: str
    why: str
    missing: str
    holders: list[ControlHolder]


ControlHolder = TypedDict(
    "ControlHolder",
    {
        "requester": "str",
        "task": "str",
        "command": "str",
        "path": "str",
        "level": "int",
        "from": "str | None",
        "until": "str | None",
        "reason": "str",
    },
    total=False,
)


class ControlPoint(TypedDict, total=False):
    """ControlPoint of an answer, or of an argument."""

    point: str
    device: str
    unit: str
    kind: str
    writable: bool
    default: Any
    revert: str
    policy: ControlPolicy | None
    array: list[ControlSlot]
    overrides: list[ControlHolder]
    window: ControlHolder | None
    wish: Any
    reverting: bool
    output: str
    held: Any
    reported: Any
    observed: Any
    later: str | None
    failures: int
    failed_with: str


ControlPolicy = TypedDict(
    "ControlPolicy",
    {
        "reservation": "bool",
        "approval": "bool",
        "longest": "float",
        "range": "ControlRange | None",
        "rate": "Rate | None",
        "assert": "str",
        "assert_pause": "float",
        "tolerance": "float",
        "min_on": "float",
        "min_off": "float",
        "interlocks": "list[Interlock]",
    },
    total=False,
)


class ControlRange(TypedDict, total=False):
    """ControlRange of an answer, or of an argument."""

    min: float | None
    max: float | None


class ControlReading(TypedDict, total=False):
    """ControlReading of an answer, or of an argument."""

    point: str
    time: str | None
    value: Any
    kind: str
    quality: str
    error: ControlError | None


class ControlReadings(TypedDict, total=False):
    """ControlReadings of an answer, or of an argument."""

    readings: list[ControlReading]


ControlSlot = TypedDict(
    "ControlSlot",
    {
        "requester": "str",
        "task": "str",
        "command": "str",
        "path": "str",
        "level": "int",
        "from": "str | None",
        "until": "str | None",
        "reason": "str",
        "value": "Any",
    },
    total=False,
)


class ControlTask(TypedDict, total=False):
    """ControlTask of an answer, or of an argument."""

    task: str
    requester: str
    priority: str
    reason: str
    windows: list[ControlWindow]
    active: list[ControlWindow]
    started: bool
    preempted: bool


class ControlTasks(TypedDict, total=False):
    """ControlTasks of an answer, or of an argument."""

    tasks: list[ControlTask]


ControlWindow = TypedDict(
    "ControlWindow",
    {
        "path": "str",
        "from": "str",
        "to": "str",
    },
    total=False,
)


class Document(TypedDict, total=False):
    """Document of an answer, or of an argument."""

    owner: str
    name: str
    type: str
    text: str | None
    version: int
    by: str
    at: str
    note: str
    deleted: bool
    content: Any


class Documents(TypedDict, total=False):
    """Documents of an answer, or of an argument."""

    documents: list[Document]


class Interlock(TypedDict, total=False):
    """Interlock of an answer, or of an argument."""

    guards: ControlRange | None
    other: str
    needs: ControlRange


class Latest(TypedDict, total=False):
    """Latest of an answer, or of an argument."""

    samples: list[Sample]
    sources: list[Source]


class NewCommand(TypedDict, total=False):
    """NewCommand of an answer, or of an argument."""

    id: str
    point: str
    value: Any
    level: int
    lease: float
    reason: str
    task: str


class Point(TypedDict, total=False):
    """Point of an answer, or of an argument."""

    path: str
    kind: str
    unit: str
    description: str
    writable: bool
    device: str
    interval: float
    tags: dict[str, str]


class Points(TypedDict, total=False):
    """Points of an answer, or of an argument."""

    points: list[Point]
    next: str


Range = TypedDict(
    "Range",
    {
        "series": "list[Series]",
        "completeness": "float | None",
        "from": "str",
        "to": "str",
        "step": "float | None",
        "next": "str",
        "sources": "list[Source]",
    },
    total=False,
)


class Rate(TypedDict, total=False):
    """Rate of an answer, or of an argument."""

    most: float
    per: float


class Sample(TypedDict, total=False):
    """Sample of an answer, or of an argument."""

    point: str
    time: str
    value: Any
    kind: str
    quality: str


class Series(TypedDict, total=False):
    """Series of an answer, or of an argument."""

    point: str
    unit: str
    kind: str
    samples: list[Any]
    expected: int | None
    present: int
    extra: int
    bad: int
    truncated: bool


Source = TypedDict(
    "Source",
    {
        "node": "str",
        "state": "str",
        "from": "str | None",
        "to": "str | None",
        "samples": "int",
        "since": "str | None",
        "waiting": "int",
        "missing": "str",
        "why": "str",
    },
    total=False,
)


class Summary(TypedDict, total=False):
    """Summary of an answer, or of an argument."""

    point: str
    unit: str
    buckets: list[Bucket]
    expected: int | None
    present: int
    extra: int
    bad: int


class WhoHolds(TypedDict, total=False):
    """WhoHolds of an answer, or of an argument."""

    points: list[ControlPoint]
    tasks: list[ControlTask]
    overrides: list[ControlHolder]
    next: str


__all__ = ["Operations"]
