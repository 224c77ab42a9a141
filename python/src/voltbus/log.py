"""Logs as the node reads them: one JSON object a line."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TextIO

from . import _json
from .errors import Invalid

__all__ = ["JSONLines", "set_up"]

if TYPE_CHECKING:
    _Handler = logging.StreamHandler[TextIO]
else:  # Python 3.10 cannot say of what
    _Handler = logging.StreamHandler

_KNOWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JSONLines(_Handler):
    """Writes ``{"time", "level", "logger", "message", …}``, with what ``extra`` held behind."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(
                timespec="microseconds"
            ),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {k: v for k, v in vars(record).items() if k not in _KNOWN and k not in line}
        if record.exc_info:
            line["trace"] = "".join(traceback.format_exception(*record.exc_info))
        try:
            return _json.encode(line).decode()
        except Invalid:
            return _json.encode({k: _text(v) for k, v in line.items()}).decode()


def set_up(level: int | str = logging.INFO, stream: TextIO | None = None) -> None:
    """Send all logs of this program to a stream, stderr unless given, as JSON lines."""
    handler = JSONLines(stream or sys.stderr)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)


def _text(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
