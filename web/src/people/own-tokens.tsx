import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { date, dateMinute, plain } from "../format";
import type { IssuedOwnToken, OwnToken, OwnTokens as OwnTokenList } from "../generated/api";
import { coded } from "../language/codes";
import { includes, rolePurpose, roles } from "../shell/role";
import { usePoll, wordsOf } from "../use-poll";
import { SecretOnce } from "./secret";

interface Props {
  api: Api;
  epoch: number;
  /** The role of who made them, above which none can be. */
  role: string;
}

/** Tokens for programs that act in one's own name, with one's own role or less. */
export function OwnTokens({ api, epoch, role }: Props) {
  const [changes, setChanges] = useState(0);
  const [adding, setAdding] = useState(false);
  const [issued, setIssued] = useState<IssuedOwnToken>();
  const [problem, setProblem] = useState("");
  const ask = useCallback(async () => (await api.get<OwnTokenList>("tokens/own")).tokens, [api]);
  const { data: tokens, problem: unread } = usePoll(ask, 30_000, epoch + changes);
  const changed = () => setChanges((n) => n + 1);
  const revoke = async (token: OwnToken) => {
    if (!confirm(`Revoke ${token.name}? The program that uses it is shut out at once.`)) return;
    try {
      await api.send("DELETE", `tokens/own/${encodeURIComponent(token.id)}`);
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
    changed();
  };
  return (
    <section class="card panel" aria-labelledby="tokens-title">
      <div class="panel-head">
        <h2 id="tokens-title">Your tokens</h2>
        {!adding && (
          <button type="button" onClick={() => setAdding(true)}>
            Create a token
          </button>
        )}
      </div>
      <p class="quiet">For programs that act in your name, such as a script or Grafana.</p>
      <p role="alert" class="problem">
        {plain(problem || unread)}
      </p>
      {adding && (
        <OwnForm
          api={api}
          role={role}
          onCancel={() => setAdding(false)}
          onIssued={(token) => {
            setIssued(token);
            setAdding(false);
            changed();
          }}
        />
      )}
      {issued && (
        <SecretOnce
          label={`Token of ${issued.name}`}
          secret={issued.token}
          onDone={() => setIssued(undefined)}
        />
      )}
      {tokens?.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="people" aria-label="Your tokens">
        {(tokens ?? []).map((t) => (
          <li key={t.id}>
            <span class="person">
              <strong>{plain(t.name)}</strong>
              <span class="quiet person-how">{expiryWords(t, api.now())}</span>
            </span>
            <span class="person-role">{coded(t.role)}</span>
            <span class="quiet person-since">since {date(Date.parse(t.created))}</span>
            <span class="actions">
              <button
                type="button"
                aria-label={`Revoke ${plain(t.name)}`}
                onClick={() => void revoke(t)}
              >
                Revoke
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function expiryWords({ expires }: OwnToken, now: number): string {
  if (expires === null) return "holds until it is revoked";
  const at = Date.parse(expires);
  return `${at <= now ? "ended" : "holds until"} ${dateMinute(at)}`;
}

const day = 86_400_000;

const lives = [
  { label: "Until it is revoked", days: 0 },
  { label: "A day", days: 1 },
  { label: "30 days", days: 30 },
  { label: "90 days", days: 90 },
  { label: "A year", days: 365 },
] as const;

interface FormProps {
  api: Api;
  role: string;
  onIssued(token: IssuedOwnToken): void;
  onCancel(): void;
}

function OwnForm({ api, role: own, onIssued, onCancel }: FormProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const [days, setDays] = useState(90);
  const [problem, setProblem] = useState("");
  const allowed = roles.filter((r) => includes(own, r));
  const chosen = allowed.find((r) => r === role);
  const submit = async (event: Event) => {
    event.preventDefault();
    const expires = days > 0 ? { expires: new Date(api.now() + days * day).toISOString() } : {};
    const body = { name: name.trim(), role, ...expires };
    try {
      onIssued(await api.send<IssuedOwnToken>("POST", "tokens/own", body));
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <form class="person-form" aria-label="Create a token" onSubmit={(e) => void submit(e)}>
      <label>
        Name
        <input
          type="text"
          required
          maxLength={64}
          autocomplete="off"
          autocapitalize="off"
          value={name}
          onInput={(e) => setName(e.currentTarget.value)}
        />
        <span class="quiet">Of the program that will use it.</span>
      </label>
      <label>
        Role
        <select value={role} onChange={(e) => setRole(e.currentTarget.value)}>
          {allowed.map((r) => (
            <option key={r} value={r}>
              {coded(r)}
            </option>
          ))}
        </select>
        <span class="quiet">{chosen && `${chosen} ${rolePurpose[chosen]}`}</span>
      </label>
      <label>
        Holds
        <select value={days} onChange={(e) => setDays(Number(e.currentTarget.value))}>
          {lives.map((l) => (
            <option key={l.days} value={l.days}>
              {l.label}
            </option>
          ))}
        </select>
      </label>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      <p class="actions">
        <button type="submit" class="primary">
          Make it
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </form>
  );
}
