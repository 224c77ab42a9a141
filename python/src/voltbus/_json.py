"""JSON as the bus speaks it: "NaN", "+Inf" and "-Inf" stand for what its numbers cannot say."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from .errors import Invalid

_ODD = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}


def encode(value: Any) -> bytes:
    """Return the value as JSON; ``Invalid`` if it holds what JSON cannot."""
    try:
        data = _encoder.encode(value)
        # The encoder writes null for a number that is none, so only then is it worth a look.
        if b"null" in data:
            data = _encoder.encode(plain(value))
    except (TypeError, ValueError, msgspec.MsgspecError) as e:
        raise Invalid(f"cannot be said in JSON: {e}") from None
    return data


def decode(data: bytes) -> Any:
    """Return what the JSON says; ``Invalid`` if it is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise Invalid(f"not JSON: {e}") from None


def plain(value: Any) -> Any:
    """Return the value with numbers that JSON cannot say as texts."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value):
        return plain(msgspec.to_builtins(value, builtin_types=(), enc_hook=_strange))
    return value


def number(value: float) -> float | str:
    """Return the number as JSON can say it."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def value_of(text: Any) -> Any:
    """Return the value of a sample as it was before it became JSON."""
    return _ODD.get(text, text) if isinstance(text, str) else text


def _strange(value: Any) -> Any:
    """Turn numbers of numpy and the like into Python's own."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return item()
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return tolist()
    raise TypeError(
        f"{type(value).__name__} has no form in JSON; turn it into a number, text, list or dict first"
    )


_encoder = msgspec.json.Encoder(enc_hook=_strange)
