"""A foreign metering data system: a web service made of spyne after the description of ours.

Prints "ready <port>" when it accepts requests and ends when its standard input closes. It answers SOAP 1.1
at /soap11 and SOAP 1.2 at /soap12, knows every meter but "stranger", and with --broken N answers the
first N requests with a fault. GET anything returns what it stored as JSON: the value by "meter channel end",
how many readings it got beside that were stored already, and how many requests there were.
"""

import argparse
import json
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import Application, ComplexModel, DateTime, Double, Fault, Integer32, ServiceBase, Unicode, XmlAttribute, rpc
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication

NAMESPACE = "urn:voltbus:metering:1"

stored: dict[str, float] = {}
counts = {"repeated": 0, "requests": 0, "faults": 0}


class Reading(ComplexModel):
    """One reading of a meter."""

    __namespace__ = NAMESPACE
    meter = XmlAttribute(Unicode, use="required")
    channel = XmlAttribute(Integer32)
    readingType = XmlAttribute(Unicode)
    end = XmlAttribute(DateTime, use="required")
    value = XmlAttribute(Double, use="required")


class Refused(ComplexModel):
    """Why a reading was not taken."""

    __namespace__ = NAMESPACE
    index = XmlAttribute(Integer32, use="required")
    reason = XmlAttribute(Unicode, use="required")


class Taken(ComplexModel):
    """What became of the readings of a request."""

    __namespace__ = NAMESPACE
    accepted = Integer32(min_occurs=1)
    refused = Refused.customize(max_occurs="unbounded")


class Metering(ServiceBase):
    """The service."""

    @rpc(Reading.customize(min_occurs=1, max_occurs="unbounded"), _returns=Taken, _body_style="out_bare")
    def RecordReadings(ctx, reading):  # noqa: N802, N805: spyne's way to declare operations
        counts["requests"] += 1
        if counts["faults"] > 0:
            counts["faults"] -= 1
            raise Fault("Server", "the database is not there")
        refused = []
        for i, r in enumerate(reading):
            key = f"{r.meter} {r.channel} {r.end.isoformat()}"
            if r.meter == "stranger":
                refused.append(Refused(index=i, reason="this system has no such meter"))
                continue
            counts["repeated"] += key in stored
            stored[key] = r.value
        return Taken(accepted=len(reading) - len(refused), refused=refused)


class Quiet(WSGIRequestHandler):
    """Requests are not told."""

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def main() -> None:
    """Serve until standard input closes."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--broken", type=int, default=0)
    counts["faults"] = arguments.parse_args().broken
    ways = {
        "/soap11": WsgiApplication(Application([Metering], NAMESPACE, in_protocol=Soap11(validator="lxml"), out_protocol=Soap11())),
        "/soap12": WsgiApplication(Application([Metering], NAMESPACE, in_protocol=Soap12(validator="lxml"), out_protocol=Soap12())),
    }

    def serve(environ, start_response):  # noqa: ANN001, ANN202
        if environ["REQUEST_METHOD"] == "GET":
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"stored": stored, **counts}).encode()]
        return ways[environ["PATH_INFO"]](environ, start_response)

    server = make_server("127.0.0.1", 0, serve, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", server.server_port, flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
