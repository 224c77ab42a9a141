import { useCallback, useState } from "preact/hooks";
import { type Api, isLoggedOut, Problem } from "./api";
import { plain } from "./format";
import { LanguageSwitch } from "./language/switch";
import { Mark } from "./mark";
import { usePoll } from "./use-poll";

interface Props {
  api: Api;
  /** Why the login is shown, "" for no special reason. */
  why: string;
  onEntered(): Promise<void>;
}

/** The page for those who did not come by a link that logs in. */
export function LoginPage({ api, why, onEntered }: Props) {
  const node = useNode(api);
  const [byToken, setByToken] = useState<boolean>();
  const [problem, setProblem] = useState(why);
  const isToken = byToken ?? node?.needed ?? true;

  const enter = async (proof: Record<string, string>) => {
    try {
      await api.send("POST", "session", proof);
      await onEntered();
    } catch (err) {
      setProblem(explain(err, isToken));
    }
  };

  return (
    <main class="login">
      <div class="card">
        <h1>
          <Mark /> {plain(node?.node ?? "") || "Voltbus"}
        </h1>
        {isToken ? <TokenForm onEnter={enter} /> : <PasswordForm onEnter={enter} />}
        <p role="alert" class="problem">
          {problem}
        </p>
        {node && !node.needed && (
          <button type="button" class="link" onClick={() => setByToken(!isToken)}>
            {isToken ? "Log in with name and password" : "Log in with a token"}
          </button>
        )}
        <LanguageSwitch />
      </div>
    </main>
  );
}

/** What a node says of itself to everybody; an older one says nothing, and takes tokens. */
function useNode(api: Api) {
  const ask = useCallback(async () => {
    try {
      return await api.get<{ needed: boolean; node: string }>("setup");
    } catch (err) {
      if (err instanceof Problem) return { needed: true, node: "" };
      throw err;
    }
  }, [api]);
  return usePoll(ask, 60_000, 0).data;
}

interface FormProps {
  onEnter(proof: Record<string, string>): Promise<void>;
}

function PasswordForm({ onEnter }: FormProps) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    void onEnter({ name: name.trim(), password });
  };
  return (
    <form onSubmit={submit}>
      <label for="name">Name</label>
      <input
        id="name"
        type="text"
        autocomplete="username"
        autocapitalize="off"
        required
        maxLength={64}
        value={name}
        onInput={(e) => setName(e.currentTarget.value)}
      />
      <label for="password">Password</label>
      <input
        id="password"
        type="password"
        autocomplete="current-password"
        required
        maxLength={256}
        value={password}
        onInput={(e) => setPassword(e.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Log in
      </button>
    </form>
  );
}

function TokenForm({ onEnter }: FormProps) {
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    void onEnter({ token: token.trim() });
  };
  return (
    <form onSubmit={submit}>
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="current-password"
        required
        value={token}
        onInput={(e) => setToken(e.currentTarget.value)}
        aria-describedby="token-help"
      />
      <p id="token-help" class="quiet">
        The node keeps its administrator's token in its data directory; the demonstration prints a
        link with it.
      </p>
      <button type="submit" class="primary">
        Log in
      </button>
    </form>
  );
}

function explain(err: unknown, isToken: boolean): string {
  if (isLoggedOut(err) && isToken) {
    return "This token is not valid. Copy it again from where the node runs.";
  }
  if (isLoggedOut(err)) return "Name and password do not fit.";
  if (err instanceof TypeError) return "The node does not answer. Is it running?";
  return err instanceof Error ? err.message : String(err);
}
