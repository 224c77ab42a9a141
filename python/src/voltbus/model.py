"""What travels on the bus, as typed values. All of them are immutable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Union

import msgspec

from ._json import value_of

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Aggregate",
    "Alert",
    "Bucket",
    "Document",
    "Fence",
    "Holder",
    "Latest",
    "Message",
    "Method",
    "Newest",
    "Parameter",
    "Peer",
    "Point",
    "Points",
    "Range",
    "Sample",
    "Scan",
    "Series",
    "Source",
    "Summary",
    "Value",
]

Value = Union[None, bool, int, float, str]


class Sample(msgspec.Struct, frozen=True):
    """One value of a point.

    ``time`` is aware and in UTC; ``value`` is in the point's unit, and None if there is none;
    ``quality`` is ``good``, perhaps with a remark as in ``good(override)``, or says what is wrong, such
    as ``bad(timeout)``.
    """

    point: str
    value: Value
    time: datetime
    quality: str = "good"

    @property
    def good(self) -> bool:
        """Whether the value can be relied on."""
        return self.quality == "good" or self.quality.startswith("good(")

    @property
    def name(self) -> str:
        """The last segment of the point's path."""
        return self.point.rpartition("/")[2]


class Scan(msgspec.Struct, frozen=True):
    """All points of a device that were read at once.

    ``points`` are values by the point's name within the device, ``quality`` names only what is not
    good. ``slot`` is when the schedule wanted the scan, None if the device reported by itself;
    ``times`` are those of points that differ from ``time``.
    """

    device: str
    time: datetime
    points: dict[str, Value]
    slot: datetime | None = None
    quality: dict[str, str] = {}
    times: dict[str, datetime] = {}

    def sample(self, name: str) -> Sample:
        """Return one of the points by its name within the device; KeyError if it is not there."""
        return Sample(
            f"{self.device}/{name}" if name else self.device,
            value_of(self.points[name]),
            self.times.get(name, self.time),
            self.quality.get(name, "good"),
        )

    def __iter__(self) -> Iterator[Sample]:
        """Iterate over the samples."""
        return iter([self.sample(name) for name in self.points])


class Message(msgspec.Struct, frozen=True):
    """A free message. ``sender`` is certain: the node lets nobody use another's name.

    ``body`` is what the JSON says, or the bytes if it is none.
    """

    topic: str
    sender: str
    body: Any
    headers: dict[str, str] = {}


class Peer(msgspec.Struct, frozen=True):
    """Another agent. ``status`` is good, bad, starting, unknown or silent."""

    name: str
    online: bool = False
    since: datetime | None = None
    status: str = "unknown"
    context: Any = None
    version: str = ""


class Alert(msgspec.Struct, frozen=True):
    """A state that a person should know about, until it is cleared."""

    key: str
    text: str = ""
    severity: str = "warning"
    since: datetime | None = None
    cleared: bool = False


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a method.

    ``kind`` is positional, keyword, either (by place or by name) or rest (any more).
    """

    name: str
    type: str = ""
    default: Any = msgspec.UNSET
    kind: str = "either"


class Method(msgspec.Struct, frozen=True):
    """A method of an agent, as ``inspect`` tells it."""

    name: str
    doc: str = ""
    params: tuple[Parameter, ...] = ()
    result: str = ""
    needs: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True):
    """A version of a configuration document.

    ``text`` is as somebody wrote it, ``content`` what it says with references resolved.
    """

    owner: str
    name: str
    version: int = 0
    type: str = "json"
    text: str = ""
    content: Any = None
    by: str = ""
    at: datetime | None = None
    note: str = ""
    deleted: bool = False


class Point(msgspec.Struct, frozen=True):
    """What a point is. ``interval`` is in seconds, 0 if unknown."""

    path: str
    kind: str = "none"
    unit: str = ""
    description: str = ""
    writable: bool = False
    device: str = ""
    interval: float = 0
    tags: dict[str, str] = {}


class Points(msgspec.Struct, frozen=True):
    """A page of points; ``next`` is the ``after`` of the next one, empty if this is the last."""

    points: tuple[Point, ...] = ()
    next: str = ""


class Source(msgspec.Struct, frozen=True):
    """How another node took part in an answer, one that has points that were asked for.

    ``state`` is ``stored`` (all that it has of the time is stored here: it was not asked), ``asked``
    (it gave ``samples``), or because of it something may be missing: ``unreachable`` since ``since``,
    ``refused`` for want of the capability ``missing``, ``late``, or ``failed``. ``waiting`` is how many
    samples it had not sent when it last told; ``why`` is for people. What may be missing lies from
    ``start`` to ``end``; None is the beginning, or now.
    """

    node: str
    state: str
    start: datetime | None = msgspec.field(default=None, name="from")
    end: datetime | None = msgspec.field(default=None, name="to")
    samples: int = 0
    since: datetime | None = None
    waiting: int = 0
    missing: str = ""
    why: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing is missing in the answer because of this node."""
        return self.state in ("stored", "asked")


class Latest(msgspec.Struct, frozen=True):
    """The newest sample of each point."""

    samples: tuple[Sample, ...] = ()
    sources: tuple[Source, ...] = ()


class Newest(dict[str, Sample]):
    """The newest sample of each point, by its path.

    ``sources`` are descendants that have points of it, whose samples may be missing.
    """

    def __init__(self, samples: Mapping[str, Sample], sources: tuple[Source, ...] = ()) -> None:
        super().__init__(samples)
        self.sources = sources


class Series(msgspec.Struct, frozen=True):
    """The samples of a point.

    ``expected`` is how many there should be, None if the point's interval is unknown; ``present``
    how many are there, ``extra`` how many of those present the interval does not ask for, ``bad`` how
    many are not good.
    """

    point: str
    unit: str = ""
    kind: str = "none"
    samples: tuple[Sample, ...] = ()
    expected: int | None = None
    present: int = 0
    bad: int = 0
    truncated: bool = False
    extra: int = 0


class Range(msgspec.Struct, frozen=True):
    """The samples of several points. ``completeness`` is 0 to 1, None if no interval is known.

    ``sources`` are descendants that have points of it, whose samples may be missing.
    """

    series: tuple[Series, ...] = ()
    completeness: float | None = None
    next: str = ""
    sources: tuple[Source, ...] = ()

    def rows(self) -> list[Sample]:
        """Return all samples, in the order of time."""
        return sorted((s for one in self.series for s in one.samples), key=lambda s: (s.time, s.point))

    def frame(self) -> pandas.DataFrame:
        """Return the good samples as a pandas frame: a row for each time, a column for each point.

        It needs pandas: install ``voltbus[pandas]``.
        """
        import pandas

        columns = {}
        for one in self.series:
            good = [s for s in one.samples if s.good]
            index = pandas.DatetimeIndex([s.time for s in good], tz="UTC", name="time")
            column = pandas.Series([s.value for s in good], index=index, dtype=None if good else object)
            columns[one.point] = column[~index.duplicated(keep="last")]
        return pandas.DataFrame(columns)


class Bucket(msgspec.Struct, frozen=True):
    """A summary of a step of time. Figures are None where there are no numbers."""

    start: datetime
    end: datetime
    count: int = 0
    bad: int = 0
    expected: int | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    sum: float | None = None
    first: float | None = None
    last: float | None = None
    values: dict[str, float | None] = {}


class Summary(msgspec.Struct, frozen=True):
    """One point in steps."""

    point: str
    unit: str = ""
    buckets: tuple[Bucket, ...] = ()
    expected: int | None = None
    present: int = 0
    bad: int = 0
    extra: int = 0


class Aggregate(msgspec.Struct, frozen=True):
    """Several points in steps. ``step`` is in seconds, on average for days and months.

    ``sources`` are descendants that have points of it, whose samples may be missing.
    """

    series: tuple[Summary, ...] = ()
    completeness: float | None = None
    step: float = 0
    next: str = ""
    sources: tuple[Source, ...] = ()


class Fence(msgspec.Struct, frozen=True, omit_defaults=True):
    """A group of controllers, and the term of the leader that commands.

    Once a leader of a later ``term`` commanded anything at a node, those of earlier terms are refused
    there as ``fenced``. ``leader`` names the leader of the term.
    """

    group: str
    term: int
    leader: str = ""


class Holder(msgspec.Struct, frozen=True):
    """Who holds what, and when: a command, a reservation, an override."""

    requester: str
    task: str = ""
    command: str = ""
    path: str = ""
    level: int = 0
    start: datetime | None = msgspec.field(default=None, name="from")
    until: datetime | None = None
    reason: str = ""
    fence: Fence | None = None
