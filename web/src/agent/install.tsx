import { useRef, useState } from "preact/hooks";
import { type Api, address, Problem } from "../api";
import { bytes, plain } from "../format";
import type { Grants, Process } from "../generated/api";
import { agentAddress } from "../shell/place";
import { includes } from "../shell/role";
import { wordsOf } from "../use-poll";
import { linesOf, sentence } from "./grant";
import { isPackage, nameFor, pack } from "./pack";
import { upload } from "./upload";

interface Props {
  api: Api;
  role: string;
  onInstalled(): void;
  onClose(): void;
}

/** Where an installation stands. */
type Step =
  | { at: "choosing"; problem: string }
  | { at: "sending"; sent: number; total: number }
  | { at: "building" }
  | { at: "approving"; process: Process }
  | { at: "done"; name: string };

/** Installs a package that is uploaded; shows what it wants before it may start. */
export function Install({ api, role, onInstalled, onClose }: Props) {
  const [step, setStep] = useState<Step>({ at: "choosing", problem: "" });
  const install = async (name: string, source: File, wheels: readonly File[]) => {
    try {
      setStep({ at: "sending", sent: 0, total: source.size });
      const body = await pack(source, wheels);
      const target = address(`agents/${encodeURIComponent(name)}/process`, { grant: "none" });
      const process = await upload<Process>(target, body, (sent, total) =>
        setStep(sent < total ? { at: "sending", sent, total } : { at: "building" }),
      );
      onInstalled();
      setStep({ at: "approving", process });
    } catch (err) {
      if (err instanceof Problem && err.status === 401) api.loggedOut();
      setStep({ at: "choosing", problem: wordsOf(err) });
    }
  };
  return (
    <section class="card panel" aria-labelledby="install-title">
      <div class="panel-head">
        <h2 id="install-title">Install an agent</h2>
        <button
          type="button"
          disabled={step.at === "sending" || step.at === "building"}
          onClick={onClose}
        >
          Close
        </button>
      </div>
      {step.at === "choosing" && <Choose problem={step.problem} onChosen={install} />}
      <p role="status" aria-label="Installation">
        {step.at === "sending" && `Sending ${bytes(step.sent)} of ${bytes(step.total)}…`}
        {step.at === "building" && "Building its environment and asking what it wants…"}
        {step.at === "done" && "It is installed."}
      </p>
      {step.at === "sending" && (
        <progress aria-label="Sent" max={Math.max(1, step.total)} value={step.sent} />
      )}
      {step.at === "building" && <progress aria-label="Building" />}
      {step.at === "approving" && (
        <Approve
          api={api}
          process={step.process}
          mayGrant={includes(role, "administrator")}
          onDone={() => {
            onInstalled();
            setStep({ at: "done", name: step.process.name });
          }}
        />
      )}
      {step.at === "done" && (
        <p>
          <a href={agentAddress(step.name)}>Go to {plain(step.name)}</a>
        </p>
      )}
    </section>
  );
}

interface ChooseProps {
  problem: string;
  onChosen(name: string, source: File, wheels: readonly File[]): Promise<void>;
}

function Choose({ problem, onChosen }: ChooseProps) {
  const source = useRef<HTMLInputElement>(null);
  const wheels = useRef<HTMLInputElement>(null);
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    const file = source.current?.files?.[0];
    if (!file) return setWrong("Choose a package.");
    if (!isPackage(file.name)) return setWrong("A package is a .whl, a .tar.gz or a .zip.");
    setWrong("");
    return void onChosen(name.trim(), file, [...(wheels.current?.files ?? [])]);
  };
  return (
    <form class="agent-form" aria-label="Package" onSubmit={submit}>
      <label>
        Package
        <input
          ref={source}
          type="file"
          accept=".whl,.gz,.zip"
          onChange={(e) => {
            const file = e.currentTarget.files?.[0];
            if (file && name === "") setName(nameFor(file.name));
          }}
        />
        <span class="quiet">A wheel, or an archive of a Python project.</span>
      </label>
      <label>
        Name
        <input
          type="text"
          required
          maxLength={64}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          autocomplete="off"
          autocapitalize="off"
          value={name}
          onInput={(e) => setName(e.currentTarget.value)}
        />
        <span class="quiet">Of an agent that is there: this becomes its next version.</span>
      </label>
      <label>
        Wheels that it needs
        <input ref={wheels} type="file" accept=".whl" multiple />
        <span class="quiet">Only where the node reaches no package registry.</span>
      </label>
      <p role="alert" class="problem agent-words">
        {wrong || plain(problem)}
      </p>
      <p class="actions">
        <button type="submit" class="primary">
          Install
        </button>
      </p>
    </form>
  );
}

interface ApproveProps {
  api: Api;
  process: Process;
  mayGrant: boolean;
  onDone(): void;
}

/** What the agent wants, before it may start. */
function Approve({ api, process, mayGrant, onDone }: ApproveProps) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const wants = linesOf((process.wants ?? {}) as Grants);
  const at = `agents/${encodeURIComponent(process.name)}`;
  const go = async (approves: boolean, starts: boolean) => {
    setBusy(true);
    try {
      if (approves) await api.send("POST", `${at}/approve?version=${process.version}`);
      if (starts) await api.send("POST", `${at}/start`);
      onDone();
    } catch (err) {
      setProblem(wordsOf(err));
      setBusy(false);
    }
  };
  return (
    <>
      <p>
        <strong>{plain(process.name)}</strong> {plain(process.release ?? "")} is installed
        {wants.length === 0 ? ", and wants nothing." : ". It wants that it"}
      </p>
      <ul class="agent-lines" aria-label="What it wants">
        {wants.map((l, i) => (
          <li key={i}>{sentence(l)}</li>
        ))}
      </ul>
      {wants.length > 0 && !mayGrant && (
        <p class="notice is-warn">Only an administrator can allow that.</p>
      )}
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      <p class="actions">
        {(mayGrant || wants.length === 0) && (
          <button
            type="button"
            class="primary"
            disabled={busy}
            onClick={() => void go(wants.length > 0, true)}
          >
            {wants.length > 0 ? "Allow it, and start" : "Start"}
          </button>
        )}
        {wants.length > 0 && (
          <button type="button" disabled={busy} onClick={() => void go(false, true)}>
            Start without
          </button>
        )}
        <button type="button" disabled={busy} onClick={onDone}>
          Not now
        </button>
      </p>
    </>
  );
}
