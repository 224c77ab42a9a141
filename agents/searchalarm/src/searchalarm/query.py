"""What is asked of the search engine, and what its answer means. It knows no bus and no wire."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

MOST = 1000  # points that one rule may find


class Rule(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is looked for, and when it is an alarm.

    ``index`` is where the readings are, ``points`` a pattern of their names in which ``*`` stands
    for any characters. ``of`` is which value of the last ``window`` seconds counts: the average, the
    least or the greatest. ``above`` and ``below`` are limits in the points' unit.
    """

    index: str
    points: str = "*"
    of: Literal["avg", "min", "max"] = "avg"
    window: int = 300
    above: float | None = None
    below: float | None = None
    severity: Literal["info", "warning", "critical"] = "warning"

    def problem(self) -> str:
        """Say what is wrong with it and what to write instead; empty if nothing is."""
        limits = [n for n in (self.above, self.below) if n is not None]
        wrong = {
            "index is the name of one index or alias, without / and ,": not self.index
            or any(c in self.index for c in "/,?# "),
            "it would never be an alarm; give above or below": not limits,
            "a limit is not finite": not all(map(math.isfinite, limits)),
            "below must be less than above": len(limits) == 2 and limits[1] >= limits[0],
            "window is 1 to 86400 seconds": not 1 <= self.window <= 86400,
        }
        return next((text for text, so in wrong.items() if so), "")

    def body(self) -> dict[str, Any]:
        """Return the body of the request: good readings of the window, by point."""
        filters: list[dict[str, Any]] = [
            {"range": {"@timestamp": {"gte": f"now-{self.window}s"}}},
            {"term": {"quality.keyword": "good"}},
            {"wildcard": {"point.keyword": {"value": self.points}}},
        ]
        value = {"value": {self.of: {"field": "value"}}}
        terms = {"field": "point.keyword", "size": MOST}
        return {
            "size": 0,
            "query": {"bool": {"filter": filters}},
            "aggs": {"points": {"terms": terms, "aggs": value}},
        }

    def why(self, value: float) -> str:
        """Say which limit a value is beyond; empty if none."""
        if self.above is not None and value > self.above:
            return f"above {self.above:g}"
        if self.below is not None and value < self.below:
            return f"below {self.below:g}"
        return ""


class _Value(msgspec.Struct):
    value: float | None = None


class _Bucket(msgspec.Struct):
    key: str
    value: _Value


class _Points(msgspec.Struct):
    buckets: list[_Bucket]
    sum_other_doc_count: int = 0


class _Aggregations(msgspec.Struct):
    points: _Points


class _Shards(msgspec.Struct):
    failed: int = 0


class _Answer(msgspec.Struct, rename={"shards": "_shards"}):
    aggregations: _Aggregations
    timed_out: bool = False
    shards: _Shards = msgspec.field(default_factory=_Shards)


class Incomplete(ValueError):
    """The answer does not say how all points are."""


def values(answer: bytes) -> dict[str, float]:
    """Return the value of each point that an answer has; ``Incomplete`` if it has not all."""
    try:
        a = msgspec.json.decode(answer, type=_Answer)
    except msgspec.MsgspecError as e:
        raise Incomplete(f"the answer is not that of a search: {e}") from None
    if a.timed_out or a.shards.failed:
        raise Incomplete("the search did not reach every shard in time; the alerts stay as they are")
    if a.aggregations.points.sum_other_doc_count:
        raise Incomplete(f"more than {MOST} points fit; write a narrower pattern for points")
    found = {b.key: b.value.value for b in a.aggregations.points.buckets}
    return {point: value for point, value in found.items() if value is not None}
