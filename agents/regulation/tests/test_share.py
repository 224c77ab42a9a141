"""The division of a need, with the cases of the Go package regulation/share."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from regulation.share import Exchange, Offer

NOW = datetime(2026, 7, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("need", "parts"),
    [
        (100, [50, 25, 25]),
        (-20, [-5, 0, -15]),
        (300, [100, 50, 50]),
        (-100, [-10, 0, -30]),
        (0, [0, 0, 0]),
    ],
)
def test_a_need_is_divided_in_proportion(need: float, parts: list[float]) -> None:
    exchange = Exchange(10)
    for campus, more, less in (("a", 100, 10), ("b", 50, 0), ("c", 50, 30)):
        assert exchange.hear(Offer(campus, 1, NOW, more, less))
    assert [exchange.part(NOW, c, need) for c in "abc"] == parts


def test_an_offer_ends_with_its_time_and_its_term() -> None:
    exchange = Exchange(10)
    assert exchange.hear(Offer("east", 2, NOW, 30, 0))
    assert exchange.hear(Offer("west", 1, NOW - timedelta(seconds=9), 10, 0))
    assert not exchange.hear(Offer("east", 1, NOW + timedelta(seconds=1), 900, 0)), "an old leader"
    assert not exchange.hear(Offer("east", 3, NOW, float("nan"), 0))
    assert exchange.part(NOW, "east", 20) == 15
    assert exchange.part(NOW + timedelta(seconds=5), "east", 20) == 20
    assert exchange.part(NOW, "north", 20) == 0
