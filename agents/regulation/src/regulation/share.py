"""Divides a need among campuses in proportion to what each can contribute.

Their leaders tell each other what that is. Nobody decides for all: each computes the parts of
all from the same offers. The rules are those of the Go package ``regulation/share``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec


class Offer(msgspec.Struct):
    """What a campus can contribute, told by its leader. Powers are in kW."""

    campus: str
    term: int  # of the leader: an earlier one's offer is void
    at: datetime
    more: float  # by which consumption can rise
    less: float  # and fall

    def toward(self, need: float) -> float:
        """Return what is offered in the direction of a need; positive: consume more."""
        return max(0.0, self.more if need > 0 else self.less)


@dataclass
class Exchange:
    """The offers that are known. One that is older than ``stale`` seconds does not count."""

    stale: float
    offers: dict[str, Offer] = field(default_factory=dict)

    def hear(self, o: Offer) -> bool:
        """Take an offer, an own one, too; tell whether it counts. One of an earlier term does not."""
        old = self.offers.get(o.campus)
        if not (math.isfinite(o.more) and math.isfinite(o.less)):
            return False
        if old is not None and (o.term, o.at) < (old.term, old.at):
            return False
        self.offers[o.campus] = o
        return True

    def part(self, now: datetime, campus: str, need: float) -> float:
        """Return the part of a campus in a need of all, kW; at most what it offers."""
        there = [o for o in self.offers.values() if now - o.at < timedelta(seconds=self.stale)]
        total = sum(o.toward(need) for o in there)
        own = next((o for o in there if o.campus == campus), None)
        if own is None or total <= 0:
            return 0.0
        return min(1.0, max(-1.0, need / total)) * own.toward(need)
