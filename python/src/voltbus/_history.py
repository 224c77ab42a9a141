"""Questions to the node about points and their past."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

import msgspec

from ._json import value_of
from .errors import Corrupt, Invalid
from .model import Aggregate, Latest, Newest, Points, Range, Sample, Series

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class History:
    """The part of a bus that asks for points and samples, as far as ``read`` is granted."""

    async def node(self, method: str, **kwargs: Any) -> Any:
        """Call a method of the node."""
        raise NotImplementedError

    async def points(
        self, pattern: str = "", *, search: str = "", limit: int = 1000, after: str = ""
    ) -> Points:
        """Return a page of the points that the pattern selects, in the order of their paths.

        ``search`` is a text that path, unit or description hold; ``after`` is ``next`` of the page
        before.
        """
        answer = await self.node("points", **_given(locals()))
        return _convert(answer, Points)

    async def latest(self, points: str | Iterable[str], *, local: bool = False) -> Newest:
        """Return the newest sample of each point, by its path; a text is a pattern.

        Points without any sample are left out. Descendants are asked for what they have not sent yet,
        and ``sources`` of the answer says how that went; with ``local`` nobody is asked.
        """
        ask = _points(points) | _given({"local": local or None})
        answer = _convert(await self.node("latest", **ask), Latest)
        return Newest({s.point: _restored(s) for s in answer.samples}, answer.sources)

    async def range(
        self,
        points: str | Iterable[str],
        start: datetime,
        end: datetime | None = None,
        *,
        limit: int | None = None,
        after: str = "",
        local: bool = False,
    ) -> Range:
        """Return the samples from ``start`` until before ``end``, and how complete they are.

        A text is a pattern. ``limit`` bounds the samples of each point; a series that it cut says
        ``truncated``. Without ``end`` the range ends now. Descendants are asked for what they have not
        sent yet, which takes two seconds at most, and ``sources`` of the answer says how that went;
        with ``local`` nobody is asked.
        """
        ask = _points(points) | _span(start, end)
        ask |= _given({"limit": limit, "after": after, "local": local or None})
        answer = await self.node("range", **ask)
        try:
            for series in answer["series"]:
                series["samples"] = [_tuple(series["point"], t) for t in series["samples"]]
        except (KeyError, TypeError, IndexError, ValueError) as e:
            raise Corrupt(f"the node's answer cannot be read: {e!r}") from None
        return _convert(answer, Range)

    async def aggregate(  # noqa: PLR0913 - which points, when, and how; all but three by name
        self,
        points: str | Iterable[str],
        start: datetime,
        end: datetime | None = None,
        *,
        step: str | timedelta,
        functions: Iterable[str] = (),
        zone: str = "",
        local: bool = False,
    ) -> Aggregate:
        """Return a summary of each step, such as ``"15m"``, ``"1h"`` or ``"1d"``.

        ``functions`` are further figures, by name; ``zone`` is a time zone, such as
        ``Europe/Berlin``, in which days and months begin. Descendants are asked as for a ``range``;
        with ``local`` nobody is.
        """
        text = step if isinstance(step, str) else f"{step.total_seconds():g}s"
        ask = _points(points) | _span(start, end)
        given = {"step": text, "functions": list(functions), "zone": zone, "local": local or None}
        ask |= _given(given)
        return _convert(await self.node("aggregate", **ask), Aggregate)


def moment(time: datetime) -> str:
    """Return a time as the bus writes it; ``Invalid`` for one without a zone."""
    if time.tzinfo is None:
        message = "a time without zone means another moment in each place; write one with tzinfo"
        raise Invalid(message, subject=time.isoformat())
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if k != "self" and v not in (None, "", [])}


def _points(points: str | Iterable[str]) -> dict[str, Any]:
    return {"pattern": points} if isinstance(points, str) else {"points": list(points)}


def _span(start: datetime, end: datetime | None) -> dict[str, Any]:
    return {"from": moment(start)} | ({"to": moment(end)} if end else {})


def _tuple(point: str, item: list[Any]) -> Sample:
    time = _EPOCH + timedelta(microseconds=round(item[0] * 1000))
    return Sample(point, value_of(item[1]), time, item[2] if len(item) > 2 else "good")


def _restored(sample: Sample) -> Sample:
    return msgspec.structs.replace(sample, value=value_of(sample.value))


def _convert(answer: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as e:
        raise Corrupt(f"the node's answer cannot be read: {e}") from None


__all__ = ["History", "Series", "moment"]
