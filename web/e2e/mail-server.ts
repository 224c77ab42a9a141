// A mail server of others, aiosmtpd, for the tests against a running node: it demands STARTTLS and a login.

import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterAll } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What the server took. */
export interface Letter {
  to: string[];
  content: string;
}

export interface MailServer {
  address: string;
  user: string;
  password: string;
  /** The certificate of its authority, as PEM. */
  ca: string;
  /** The next letter. */
  letter(): Promise<Letter>;
}

/** Starts a mail server, which ends with the tests of the file; undefined where its library is not installed (`make peers`). */
export async function startMailServer(): Promise<MailServer | undefined> {
  const python = process.env.VOLTBUS_PEERS_PYTHON ?? join(root, ".venv/bin/python");
  try {
    execFileSync(python, ["-c", "import aiosmtpd"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  const dir = await mkdtemp(join(tmpdir(), "voltbus-mail-"));
  const [certificate, key] = [join(dir, "certificate.pem"), join(dir, "key.pem")];
  const kind =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mail";
  const names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate];
  execFileSync("openssl", [...kind.split(" "), ...names], { stdio: "ignore" });
  const [user, password] = ["plant", "a secret of tests"];
  const peer = join(root, "testing/peers/smtp_peer.py");
  const server = spawn(python, [peer, certificate, key, user, password], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const ready = await said(createInterface(server.stdout), "ready");
  const control = connect(Number(ready), "127.0.0.1");
  afterAll(async () => {
    control.destroy();
    server.kill();
    await ended;
    await rm(dir, { recursive: true });
  });
  const lines = createInterface(control);
  const port = await said(lines, "port");
  return {
    address: `127.0.0.1:${port}`,
    ...{ user, password, ca: await readFile(certificate, "utf8") },
    letter: async () => JSON.parse(await said(lines, "letter")) as Letter,
  };
}

/** What stands after a word in the next line that begins with it. */
function said(lines: Interface, word: string): Promise<string> {
  return new Promise((resolve) => {
    const look = (line: string) => {
      if (!line.startsWith(`${word} `)) return;
      lines.off("line", look);
      resolve(line.slice(word.length + 1));
    };
    lines.on("line", look);
  });
}
