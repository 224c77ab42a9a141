"""The engine of ClickHouse (chDB) behind its HTTP interface: POST with the statement in the parameter query, or in the body."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

from chdb import session


class Interface(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        parameters = parse_qs(urlsplit(self.path).query)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        statement = parameters.pop("query", [""])[0]
        if "FORMAT" in statement and parameters:
            settings = ", ".join(f"{name}='{values[0]}'" for name, values in parameters.items())
            statement = statement.replace("FORMAT", f"SETTINGS {settings} FORMAT", 1)
        try:
            answer, status = str(engine.query(f"{statement}\n{body}".strip(), "JSONEachRow")), 200
        except Exception as err:  # the engine's own text, which begins with its code
            answer, status = str(err), 404 if "Code: 60." in str(err) else 400
        data = answer.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


engine = session.Session(sys.argv[2])
HTTPServer(("127.0.0.1", int(sys.argv[1])), Interface).serve_forever()
