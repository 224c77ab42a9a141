import { useState } from "preact/hooks";
import { type Api, isLoggedOut } from "./api";
import { Mark } from "./mark";

interface Props {
  api: Api;
  /** Why the login is shown, "" for no special reason. */
  why: string;
  onEntered(): Promise<void>;
}

/** The page for those who did not come by a link that logs in. */
export function LoginPage({ api, why, onEntered }: Props) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(why);

  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await api.login(token.trim());
      await onEntered();
    } catch (err) {
      setProblem(explain(err));
    }
  };

  return (
    <main class="login">
      <form class="card" onSubmit={(e) => void submit(e)}>
        <h1>
          <Mark /> Voltbus
        </h1>
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
          The node prints a link with the token when it starts.
        </p>
        <p role="alert" class="problem">
          {problem}
        </p>
        <button type="submit" class="primary">
          Log in
        </button>
      </form>
    </main>
  );
}

function explain(err: unknown): string {
  if (isLoggedOut(err)) return "This token is not valid. Copy it again from where the node runs.";
  if (err instanceof TypeError) return "The node does not answer. Is it running?";
  return err instanceof Error ? err.message : String(err);
}
