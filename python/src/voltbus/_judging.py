"""Run the function of a rule for a node: requests and answers are JSON with its length before it."""

import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, TypeAlias

from voltbus.rule import PASS, Judge, Reading, Verdict

Message: TypeAlias = dict[str, Any]

_LETTERS = {"mark": "m", "withhold": "w"}


class Unusable(Exception):
    """The file has no function that can be used, or the function gave no usable answer."""


def find(names: Message, wanted: str) -> Judge:
    """Find the function of a file by its name, or the only one that is marked."""
    if wanted:
        if not callable(names.get(wanted)):
            raise Unusable(f"there is no function {wanted}")
        return judge_of(names[wanted])
    marked = {id(f): f for f in names.values() if hasattr(f, "__voltbus_rule__")}
    if len(marked) != 1:
        what = "several functions are" if marked else "no function is"
        raise Unusable(f"{what} marked with @rule or @each; name one in the key function")
    return judge_of(next(iter(marked.values())))


def judge_of(function: Any) -> Judge:
    """Return a function that judges readings, of one that may judge one at a time."""
    if getattr(function, "__voltbus_rule__", "all") == "all":
        judge: Judge = function
        return judge

    def all_of_them(readings: Sequence[Reading]) -> Iterator[Verdict]:
        for reading in readings:
            yield function(reading)

    return all_of_them


def readings_of(request: Message) -> list[Reading]:
    """Make readings of the columns of a request."""
    points, qualities = request["points"], request["qualities"]
    columns = zip(
        [points[i] for i in request["point"]],
        request["value"],
        [qualities[i] for i in request["quality"]],
        request["time"],
        strict=True,
    )
    return list(map(Reading._make, columns))


def answer(judge: Judge, readings: Sequence[Reading]) -> list[tuple[int, str, str]]:
    """Return the verdicts other than PASS, each with the number of its reading."""
    said: list[tuple[int, str, str]] = []
    count = 0
    verdicts = judge(readings)
    if verdicts is None:
        raise Unusable("it returned None instead of a verdict for each reading")
    for verdict in verdicts:
        if verdict is not None and verdict is not PASS:
            letter = _LETTERS.get(verdict[0]) if isinstance(verdict, Verdict) else None
            if letter is None:
                raise Unusable(f"{verdict!r:.100} is not a verdict; write PASS, mark(…) or withhold(…)")
            said.append((count, letter, str(verdict.reason)[:500]))
        count += 1
    if count != len(readings):
        raise Unusable(f"it gave {count} verdicts on {len(readings)} readings")
    return said


def complaint(error: BaseException, file: str) -> str:
    """Describe an error in a line, with the line of the file where it was raised."""
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            where = f", line {frame.lineno}"
    text = str(error)
    kind = "" if isinstance(error, Unusable) else type(error).__name__ + (": " if text else "")
    return f"{file}{where}: {kind}{text}"[:1000]


def receive(stream: BinaryIO) -> Message | None:
    """Read a message; None at the end."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    message: Message = json.loads(stream.read(int.from_bytes(head, "big")))
    return message


def send(stream: BinaryIO, message: Message) -> None:
    """Write a message."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def serve(requests: BinaryIO, answers: BinaryIO, file: str, source: str, wanted: str) -> None:
    """Load the file, and answer requests until there are no more, or one fails."""
    names: Message = {"__name__": "rule", "__file__": file}
    try:
        exec(compile(source, file, "exec"), names)
        judge = find(names, wanted)
        send(answers, {})
        while (request := receive(requests)) is not None:
            send(answers, {"said": answer(judge, readings_of(request))})
    except BaseException as error:
        send(answers, {"failed": complaint(error, file), "memory": isinstance(error, MemoryError)})
        sys.exit(1)
