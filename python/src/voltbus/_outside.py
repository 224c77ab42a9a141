"""A model in a process of its own: it is asked in JSON, an object a line, and answers each with one."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from typing import Protocol

import msgspec


class Ask(msgspec.Struct):
    """What to do: go on to a moment (ns since the start) with inputs, or say or take the state."""

    to: int = 0
    u: list[float] | None = None
    save: bool = False
    load: bytes = b""


class Answer(msgspec.Struct, omit_defaults=True):
    """What it did. An output that is no number is None."""

    y: list[float | None] = []
    state: bytes = b""
    error: str = ""


class Model(Protocol):
    """A model."""

    def advance(self, to: int, u: list[float]) -> list[float]:
        """Go on to a moment with inputs, and return the outputs."""

    def save(self) -> bytes:
        """Return the whole state."""

    def load(self, to: int, state: bytes) -> None:
        """Take a state of a moment."""

    def close(self) -> None:
        """End."""


def serve(make: Callable[[bytes], Model]) -> None:
    """Answer on standard output until the input ends. What the model prints goes to standard error."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    encode, decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(Ask).decode
    model: Model | None = None
    try:
        for line in sys.stdin.buffer:
            answer = Answer()
            try:
                if model is None:
                    model = make(line)
                else:
                    _do(model, decode(line), answer)
            except Exception as e:
                answer.error = f"{type(e).__name__}: {e}"
            answers.write(encode(answer) + b"\n")
            answers.flush()
    finally:
        if model is not None:
            model.close()


def _do(model: Model, ask: Ask, answer: Answer) -> None:
    if ask.save:
        answer.state = model.save()
    elif ask.load:
        model.load(ask.to, ask.load)
    else:
        answer.y = [v if math.isfinite(v) else None for v in model.advance(ask.to, ask.u or [])]
