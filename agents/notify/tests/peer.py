"""A real mail server and a real web server on loopback, which can be told to be out of order."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

PASSWORD = "correct horse"


class MailServer:
    """Takes mail for all but addresses with "nobody", behind STARTTLS and a password if told so."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.mails: list[Any] = []
        self.out_of_order = False
        tls: dict[str, Any] = {}
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            tls = {"tls_context": context, "require_starttls": True, "authenticator": self._login}
            tls["auth_required"] = True
        self._options = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def _login(self, _s: Any, _session: Any, _e: Any, _m: str, data: LoginPassword) -> AuthResult:
        known = (data.login, data.password) == (b"voltbus", PASSWORD.encode())
        return AuthResult(success=known, handled=False)

    async def handle_RCPT(self, _s: Any, _n: Any, envelope: Any, address: str, _o: Any) -> str:  # noqa: N802
        if "nobody" in address:
            return "550 there is nobody"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        if self.out_of_order:
            return "451 out of order"
        self.mails.append(envelope)
        return "250 OK"

    def __enter__(self) -> MailServer:
        self._thread.start()
        made = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        self.port = made.result()
        return self

    async def _listen(self) -> int:
        def session() -> SMTP:
            return SMTP(self, loop=self._loop, hostname="localhost", **self._options)

        self._server = await self._loop.create_server(session, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


class WebServer:
    """Keeps what was posted to it, and answers with ``status``."""

    def __init__(self) -> None:
        self.posts: list[tuple[dict[str, str], Any]] = []
        self.status = 204


@contextmanager
def web_server() -> Iterator[tuple[WebServer, str]]:
    """Run a web server; yields it and its address."""
    kept = WebServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.posts.append((dict(self.headers), json.loads(body)))
            self.send_response(kept.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield kept, f"http://127.0.0.1:{server.server_port}/hook?room=1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def make_certificate(folder: Path) -> Path:
    """Make a certificate for localhost, with its key, in one file."""
    file = folder / "mail.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    command += f" -addext subjectAltName=DNS:localhost -keyout {folder}/key.pem -out {folder}/cert.pem"
    subprocess.run(command.split(), check=True, capture_output=True)
    file.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return file
