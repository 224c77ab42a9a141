import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { date, plain, plural } from "../format";
import { coded } from "../language/codes";
import { includes, type Role, rolePurpose, roles } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll, wordsOf } from "../use-poll";
import { OwnTokens } from "./own-tokens";
import { PasswordFields, usePassword } from "./password";
import { RecordTokens } from "./record-tokens";
import "./people.css";

/** Somebody who can log in. */
interface Person {
  name: string;
  role: string;
  created: string;
  /** Whether a password is set. */
  password: boolean;
  /** How many tokens are given out. */
  tokens: number;
  /** The local administrator, who cannot be changed. */
  local: boolean;
}

/** Who may use the node: one's own password and tokens for everybody, all accounts and tokens for administrators. */
export function PeopleScreen({ api, session, epoch }: ScreenProps) {
  return (
    <div class="screen">
      <h1>People</h1>
      {includes(session.role, "administrator") && (
        <>
          <Accounts api={api} epoch={epoch} self={session.user} />
          <RecordTokens api={api} epoch={epoch} />
        </>
      )}
      <OwnTokens api={api} epoch={epoch} role={session.role} />
      <OwnPassword api={api} name={session.user} role={session.role} />
    </div>
  );
}

interface AccountsProps {
  api: Api;
  epoch: number;
  self: string;
}

function Accounts({ api, epoch, self }: AccountsProps) {
  const [changes, setChanges] = useState(0);
  const [problem, setProblem] = useState("");
  const [chosen, setChosen] = useState<Person | "new">();
  const ask = useCallback(
    async () => (await api.get<{ people: Person[] | null }>("people")).people ?? [],
    [api],
  );
  const { data: people, problem: unread } = usePoll(ask, 30_000, epoch + changes);
  const remove = async (person: Person) => {
    if (!confirm(`Remove ${person.name} with all tokens and sessions?`)) return;
    try {
      await api.send("DELETE", `people/${encodeURIComponent(person.name)}`);
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setChanges((n) => n + 1);
  };
  const finish = () => {
    setChosen(undefined);
    setChanges((n) => n + 1);
  };
  return (
    <section class="card panel" aria-labelledby="accounts-title">
      <div class="panel-head">
        <h2 id="accounts-title">Accounts</h2>
        <button type="button" class="primary" onClick={() => setChosen("new")}>
          Add a person
        </button>
      </div>
      <p role="alert" class="problem">
        {problem || unread}
      </p>
      {chosen && (
        <PersonForm
          key={chosen === "new" ? "" : chosen.name}
          api={api}
          person={chosen === "new" ? undefined : chosen}
          onDone={finish}
          onCancel={() => setChosen(undefined)}
        />
      )}
      {people && (
        <AccountTable people={people} self={self} onChange={setChosen} onRemove={remove} />
      )}
    </section>
  );
}

interface TableProps {
  people: readonly Person[];
  self: string;
  onChange(person: Person): void;
  onRemove(person: Person): void;
}

function AccountTable({ people, self, onChange, onRemove }: TableProps) {
  return (
    <ul class="people" aria-label="People">
      {people.map((p) => (
        <li key={p.name}>
          <span class="person">
            <strong>{plain(p.name)}</strong>
            {p.name === self && <span class="quiet"> (you)</span>}
            <span class="quiet person-how">{howLogsIn(p)}</span>
          </span>
          <span class="person-role">{coded(plain(p.role))}</span>
          <span class="quiet person-since">since {date(Date.parse(p.created))}</span>
          <span class="actions">
            {!p.local && (
              <>
                <button type="button" aria-label={`Change ${p.name}`} onClick={() => onChange(p)}>
                  Change
                </button>
                <button
                  type="button"
                  aria-label={`Remove ${p.name}`}
                  disabled={p.name === self}
                  onClick={() => onRemove(p)}
                >
                  Remove
                </button>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function howLogsIn(p: Person): string {
  const ways = [p.password ? "password" : "", p.tokens > 0 ? plural(p.tokens, "token") : ""];
  const words = ways.filter((w) => w !== "").join(" and ");
  if (p.local) return `the node's own administrator, by ${words || "its token file"}`;
  return words ? `logs in by ${words}` : "cannot log in: no password, no token";
}

interface FormProps {
  api: Api;
  /** Who is changed; undefined to add somebody. */
  person: Person | undefined;
  onDone(): void;
  onCancel(): void;
}

function PersonForm({ api, person, onDone, onCancel }: FormProps) {
  const [name, setName] = useState(person?.name ?? "");
  const [role, setRole] = useState<string>(person?.role ?? "viewer");
  const [problem, setProblem] = useState("");
  const password = usePassword();
  const isNew = person === undefined;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (password.problem && (isNew || password.given)) return setProblem(password.problem);
    const body = { role, ...(password.given ? { password: password.given } : {}) };
    try {
      await api.send("PUT", `people/${encodeURIComponent(name.trim())}`, body);
      onDone();
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <form
      class="person-form"
      aria-label={isNew ? "Add a person" : `Change ${person.name}`}
      onSubmit={(e) => void submit(e)}
    >
      {isNew && (
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
        </label>
      )}
      <RoleChoice role={role} onRole={setRole} />
      <PasswordFields password={password} optional={!isNew} />
      <p role="alert" class="problem">
        {problem}
      </p>
      <p class="actions">
        <button type="submit" class="primary">
          {isNew ? "Add" : "Save"}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </form>
  );
}

function RoleChoice({ role, onRole }: { role: string; onRole(role: string): void }) {
  const known = roles.find((r) => r === role) as Role | undefined;
  return (
    <label>
      Role
      <select value={role} onChange={(e) => onRole(e.currentTarget.value)}>
        {roles.map((r) => (
          <option key={r} value={r}>
            {coded(r)}
          </option>
        ))}
      </select>
      <span class="quiet">{known ? `${known} ${rolePurpose[known]}` : ""}</span>
    </label>
  );
}

interface OwnProps {
  api: Api;
  name: string;
  role: string;
}

function OwnPassword({ api, name, role }: OwnProps) {
  const [old, setOld] = useState("");
  const [told, setTold] = useState<{ ok: boolean; words: string }>();
  const password = usePassword();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (password.problem) return setTold({ ok: false, words: password.problem });
    try {
      await api.send("PUT", "session/password", { old, new: password.given });
      setTold({ ok: true, words: "Changed. Other browsers must log in again." });
      setOld("");
      password.clear();
    } catch (err) {
      setTold({ ok: false, words: wordsOf(err) });
    }
  };
  return (
    <section class="card panel" aria-labelledby="own-title">
      <h2 id="own-title">Your password</h2>
      <p class="quiet">
        You are {plain(name)}, {coded(role)}.
      </p>
      <form class="person-form" aria-label="Your password" onSubmit={(e) => void submit(e)}>
        <label>
          Present password
          <input
            type="password"
            autocomplete="current-password"
            required
            value={old}
            onInput={(e) => setOld(e.currentTarget.value)}
          />
        </label>
        <PasswordFields password={password} optional={false} />
        <p role="alert" class={told?.ok ? "done" : "problem"}>
          {told?.words}
        </p>
        <p class="actions">
          <button type="submit">Change password</button>
        </p>
      </form>
    </section>
  );
}
