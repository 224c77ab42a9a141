from typing import TYPE_CHECKING, cast

import pytest

from voltbus.errors import Corrupt
from voltbus.meters import frame

if TYPE_CHECKING:
    from voltbus.operations import MeterReadings

ANSWER = {
    "meter": "1EMH0001",
    "channel": 1,
    "unit": "kWh",
    "readings": [
        {
            "end": "2026-03-01T00:15:00Z",
            "value": 0.25,
            "stage": "raw",
            "recorded": "2026-03-01T00:16:02Z",
            "who": "concentrator-1",
        },
        {
            "end": "2026-03-01T00:15:00Z",
            "value": 0.5,
            "stage": "edited",
            "recorded": "2026-03-02T08:00:00.5Z",
            "who": "ada",
            "reason": "read on site",
        },
    ],
}


def test_readings_become_a_frame_with_their_versions() -> None:
    pytest.importorskip("pandas", reason="pandas is an extra")
    table = frame(cast("MeterReadings", ANSWER))
    assert list(table.columns) == ["value", "stage", "status", "recorded", "who", "rule", "reason"]
    assert [t.isoformat() for t in table.index] == ["2026-03-01T00:15:00+00:00"] * 2
    assert list(table["value"]) == [0.25, 0.5]
    assert list(table["stage"]) == ["raw", "edited"]
    assert table["recorded"].iloc[1].isoformat() == "2026-03-02T08:00:00.500000+00:00"
    assert list(table["reason"]) == ["", "read on site"]
    assert table.attrs == {"meter": "1EMH0001", "channel": 1, "unit": "kWh"}


def test_no_readings_are_an_empty_frame() -> None:
    pytest.importorskip("pandas", reason="pandas is an extra")
    table = frame(cast("MeterReadings", {**ANSWER, "readings": []}))
    assert table.empty
    assert table["value"].dtype == float
    assert str(table.index.tz) == "UTC"


def test_what_is_no_answer_is_corrupt() -> None:
    pytest.importorskip("pandas", reason="pandas is an extra")
    with pytest.raises(Corrupt):
        frame(cast("MeterReadings", {**ANSWER, "readings": [{"value": 1}]}))
