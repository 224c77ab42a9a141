"""An SMTP server (aiosmtpd) that demands STARTTLS and a login, and says each letter as a line "letter {...}"."""

import asyncio
import json
import socket
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

certificate, key, user, password = sys.argv[1:5]
control = None


def say(kind: str, what) -> None:
    control.write(f"{kind} {json.dumps(what)}\n")
    control.flush()


class Mailbox:
    async def handle_DATA(self, server, session, envelope) -> str:
        say(
            "letter",
            {
                "from": envelope.mail_from,
                "to": envelope.rcpt_tos,
                "content": envelope.content.decode(),
                "encrypted": session.ssl is not None,
                "login": session.authenticated,
            },
        )
        return "250 taken"


def login(server, session, envelope, mechanism, data) -> AuthResult:
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (user.encode(), password.encode())
    return AuthResult(success=right, handled=False) if not right else AuthResult(success=True)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
controller = Controller(
    Mailbox(), hostname="127.0.0.1", port=port, tls_context=context, require_starttls=True, authenticator=login, auth_required=True, loop=asyncio.new_event_loop()
)
controller.start()

listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
conn, _ = listener.accept()
with conn, conn.makefile("rw") as control:
    say("port", port)
    for _ in control:
        pass
controller.stop()
