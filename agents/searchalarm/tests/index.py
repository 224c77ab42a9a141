"""A search engine written strictly after the published descriptions of the bulk and search APIs.

It has what nodes and this agent use of them: documents by identifier (the action ``index``), and of
``POST /<index>/_search`` a ``bool`` query of ``filter`` with ``range`` (``gte`` with ``now-<n>s``),
``term`` and ``wildcard`` on keyword fields, with ``size`` 0, and a ``terms`` aggregation with ``avg``,
``min`` or ``max`` below. Anything else is answered as the server does: 400 with a parsing exception.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PASSWORD = "correct horse"


class Refused(Exception):
    """The request is none that the server takes."""


class Index:
    """What the server has."""

    def __init__(self) -> None:
        self.docs: dict[str, dict[str, dict[str, Any]]] = {}
        self.now = datetime(2026, 6, 1, tzinfo=timezone.utc)
        self.failed_shards = 0
        self.url = ""

    def add(self, point: str, value: float, *, ago: float = 0, quality: str = "good") -> None:
        """Keep a document in the form in which a destination sends it."""
        at = (self.now - timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        doc = {"@timestamp": at, "point": point, "quality": quality, "value": value, "unit": "degC"}
        action = {"index": {"_index": "readings", "_id": f"{point} {at}"}}
        self.bulk("\n".join(map(json.dumps, (action, doc))) + "\n")

    def bulk(self, text: str) -> list[Any]:
        """Keep documents; return what became of each."""
        lines = text.split("\n")
        if lines.pop() != "":
            raise Refused("The bulk request must be terminated by a newline [\\n]")
        for action, doc in zip(lines[::2], lines[1::2], strict=True):
            ((verb, where),) = json.loads(action).items()
            if verb != "index":
                raise Refused("Malformed action/metadata line")
            self.docs.setdefault(where["_index"], {})[where["_id"]] = json.loads(doc)
        return [{"index": {"status": 201}}] * (len(lines) // 2)

    def search(self, index: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer a search."""
        expect(body, {"size", "query", "aggs"})
        if body["size"] != 0:
            raise Refused("only size 0 is known here")
        filters = body["query"]["bool"]["filter"]
        expect(body["query"], {"bool"})
        docs = [d for d in self.docs[index].values() if all(self._fits(f, d) for f in filters)]
        ((name, agg),) = body["aggs"].items()
        expect(agg, {"terms", "aggs"})
        expect(agg["terms"], {"field", "size"})
        groups: dict[str, list[dict[str, Any]]] = {}
        for doc in docs:
            groups.setdefault(doc[keyword(agg["terms"]["field"])], []).append(doc)
        most = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))
        kept, rest = most[: agg["terms"]["size"]], most[agg["terms"]["size"] :]
        buckets = [
            {"key": k, "doc_count": len(g)} | {n: metric(m, g) for n, m in agg["aggs"].items()}
            for k, g in kept
        ]
        found = {
            "doc_count_error_upper_bound": 0,
            "sum_other_doc_count": sum(len(g) for _, g in rest),
            "buckets": buckets,
        }
        shards = {"total": 1, "successful": 1 - self.failed_shards, "failed": self.failed_shards}
        return {"took": 1, "timed_out": False, "_shards": shards, "aggregations": {name: found}}

    def _fits(self, query: dict[str, Any], doc: dict[str, Any]) -> bool:
        ((kind, clause),) = query.items()
        ((field, wanted),) = clause.items()
        if kind == "range":
            expect(wanted, {"gte"})
            span = re.fullmatch(r"now-(\d+)s", wanted["gte"])
            if span is None:
                raise Refused(f"failed to parse date field [{wanted['gte']}]")
            at = datetime.fromisoformat(doc[field].replace("Z", "+00:00"))
            return at >= self.now - timedelta(seconds=int(span[1]))
        if kind == "term":
            return bool(doc.get(keyword(field)) == wanted)
        if kind == "wildcard":
            expect(wanted, {"value"})
            return fnmatchcase(doc[keyword(field)], wanted["value"].replace("[", "[[]"))
        raise Refused(f"unknown query [{kind}]")


def keyword(field: str) -> str:
    """Return the field of a keyword that dynamic mapping makes for each text."""
    name, dot, kind = field.partition(".")
    if not dot or kind != "keyword":
        raise Refused(f"Fielddata is disabled on [{field}]; use a keyword field instead")
    return name


def metric(wanted: dict[str, Any], docs: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return a number of some documents."""
    ((kind, clause),) = wanted.items()
    numbers = [d[clause["field"]] for d in docs if clause["field"] in d]
    known: dict[str, Callable[[list[float]], float]] = {
        "avg": lambda n: sum(n) / len(n),
        "min": min,
        "max": max,
    }
    if kind not in known:
        raise Refused(f"Unknown aggregation type [{kind}]")
    return {"value": known[kind](numbers) if numbers else None}


def expect(body: dict[str, Any], known: set[str]) -> None:
    """Refuse what is not known."""
    if set(body) != known:
        raise Refused(f"unknown or missing key in [{', '.join(sorted(set(body) ^ known))}]")


@contextmanager
def search_engine() -> Iterator[Index]:
    """Serve an index on loopback."""
    index = Index()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = self._answer(text)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _answer(self, text: bytes) -> tuple[int, dict[str, Any]]:
            pair = base64.b64encode(f"plant:{PASSWORD}".encode()).decode()
            if self.headers.get("Authorization") != f"Basic {pair}":
                return 401, error("security_exception", "unable to authenticate user [plant]", 401)
            if self._place() == "/_bulk" and self.headers["Content-Type"] == "application/x-ndjson":
                return kept(index, text.decode())
            name, _, verb = self._place().lstrip("/").partition("/")
            if verb != "_search" or self.headers["Content-Type"] != "application/json":
                return 405, error("illegal_argument_exception", "no handler found", 405)
            if name not in index.docs:
                return 404, error("index_not_found_exception", f"no such index [{name}]", 404)
            try:
                return 200, index.search(name, json.loads(text))
            except (Refused, KeyError, ValueError) as e:
                return 400, error("parsing_exception", str(e), 400)

        def _place(self) -> str:
            return self.path.partition("?")[0]

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def kept(index: Index, text: str) -> tuple[int, dict[str, Any]]:
    """Answer a bulk request."""
    try:
        return 200, {"errors": False, "items": index.bulk(text)}
    except (Refused, ValueError) as e:
        return 400, error("illegal_argument_exception", str(e), 400)


def error(kind: str, reason: str, status: int) -> dict[str, Any]:
    """Return what the server says when it says no."""
    return {"error": {"type": kind, "reason": reason}, "status": status}
