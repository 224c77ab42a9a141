from datetime import datetime, timedelta, timezone

import pytest

from voltbus.model import Range, Sample, Series

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def test_a_range_becomes_a_frame_of_its_good_samples() -> None:
    pytest.importorskip("pandas", reason="pandas is an extra")
    later = NOON + timedelta(minutes=1)
    answer = Range(
        series=(
            Series("a", samples=(Sample("a", 1.5, NOON), Sample("a", 2.5, later))),
            Series("b", samples=(Sample("b", 3, later), Sample("b", 9, NOON, "bad(timeout)"))),
            Series("c"),
        )
    )
    frame = answer.frame()
    assert list(frame.columns) == ["a", "b", "c"]
    assert list(frame["a"]) == [1.5, 2.5]
    assert frame["b"].dropna().to_dict() == {later: 3}
    assert frame["c"].isna().all()
    assert str(frame.index.tz) == "UTC"
    assert [(s.point, s.value) for s in answer.rows()] == [
        ("a", 1.5), ("b", 9), ("a", 2.5), ("b", 3),
    ]  # fmt: skip
    assert answer.series[1].samples[0].name == "b"
