import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { date, plain } from "../format";
import type { IssuedToken, Tokens } from "../generated/api";
import { usePoll, wordsOf } from "../use-poll";
import { SecretOnce } from "./secret";

type Token = Tokens["tokens"][number];

/** Tokens of programs that send samples: they can record, and nothing else. */
export function RecordTokens({ api, epoch }: { api: Api; epoch: number }) {
  const [changes, setChanges] = useState(0);
  const [adding, setAdding] = useState(false);
  const [issued, setIssued] = useState<IssuedToken>();
  const [problem, setProblem] = useState("");
  const ask = useCallback(async () => (await api.get<Tokens>("tokens")).tokens, [api]);
  const { data: tokens, problem: unread } = usePoll(ask, 30_000, epoch + changes);
  const changed = () => setChanges((n) => n + 1);
  const revoke = async (token: Token) => {
    if (!confirm(`Revoke ${token.name}? The program that uses it can record no more.`)) return;
    try {
      await api.send("DELETE", `tokens/${encodeURIComponent(token.name)}`);
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
    changed();
  };
  return (
    <section class="card panel" aria-labelledby="record-title">
      <div class="panel-head">
        <h2 id="record-title">Tokens that can only record</h2>
        {!adding && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Create a record-only token
          </button>
        )}
      </div>
      <p class="quiet">
        For programs that send samples over HTTP. Whoever has one can read nothing and change
        nothing.
      </p>
      <p role="alert" class="problem">
        {plain(problem || unread)}
      </p>
      {adding && (
        <TokenForm
          api={api}
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
      {tokens && tokens.length > 0 && <TokenList tokens={tokens} onRevoke={revoke} />}
    </section>
  );
}

interface ListProps {
  tokens: readonly Token[];
  onRevoke(token: Token): Promise<void>;
}

const TokenList = ({ tokens, onRevoke }: ListProps) => (
  <ul class="people" aria-label="Tokens that can only record">
    {tokens.map((t) => (
      <li key={t.name}>
        <span class="person">
          <strong>{plain(t.name)}</strong>
        </span>
        <span class="person-role">{t.under ? `below ${plain(t.under)}` : "anywhere"}</span>
        <span class="quiet person-since">since {date(Date.parse(t.created))}</span>
        <span class="actions">
          <button
            type="button"
            aria-label={`Revoke ${plain(t.name)}`}
            onClick={() => void onRevoke(t)}
          >
            Revoke
          </button>
        </span>
      </li>
    ))}
  </ul>
);

interface FormProps {
  api: Api;
  onIssued(token: IssuedToken): void;
  onCancel(): void;
}

function TokenForm({ api, onIssued, onCancel }: FormProps) {
  const [name, setName] = useState("");
  const [under, setUnder] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const where = under.trim() ? { under: under.trim() } : {};
    try {
      onIssued(await api.send<IssuedToken>("POST", "tokens", { name: name.trim(), ...where }));
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  const plainText = { type: "text", autocomplete: "off", autocapitalize: "off" } as const;
  return (
    <form
      class="person-form"
      aria-label="Create a record-only token"
      onSubmit={(e) => void submit(e)}
    >
      <label>
        Name
        <input
          {...plainText}
          required
          maxLength={57}
          value={name}
          onInput={(e) => setName(e.currentTarget.value)}
        />
        <span class="quiet">Of the program that will use it.</span>
      </label>
      <label>
        Below
        <input
          {...plainText}
          maxLength={512}
          value={under}
          onInput={(e) => setUnder(e.currentTarget.value)}
        />
        <span class="quiet">A path such as campus/b1; empty for anywhere.</span>
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
