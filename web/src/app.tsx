import { useCallback, useEffect, useState } from "preact/hooks";
import { type Api, isLoggedOut, type Session } from "./api";
import { LoginPage } from "./login";
import { Shell } from "./shell/shell";
import { forget } from "./shell/worker";
import { tokenIn } from "./token";

type State = { at: "asking" } | { at: "out"; why: string } | { at: "in"; session: Session };

const retryAfter = 1000;

/** The program's root: asks who is logged in, and shows the login or the screens. */
export function App({ api }: { api: Api }) {
  const [state, setState] = useState<State>({ at: "asking" });

  const enter = useCallback(async () => {
    try {
      setState({ at: "in", session: await api.session() });
    } catch (err) {
      if (isLoggedOut(err)) setState((old) => (old.at === "asking" ? { at: "out", why: "" } : old));
      else window.setTimeout(() => void enter(), retryAfter);
    }
  }, [api]);

  useEffect(() => {
    const token = takeToken();
    const login = api.loginAhead() ?? (token ? api.login(token) : undefined);
    const entered = login ? login.then(enter) : enter();
    entered.catch((err: Error) => setState({ at: "out", why: err.message }));
    api.loggedOut = () =>
      setState((old) =>
        old.at === "in" ? { at: "out", why: "Your session ended. Log in again." } : old,
      );
  }, [api, enter]);

  const logOut = () => {
    forget();
    void api.logout().then(() => setState({ at: "out", why: "" }));
  };

  if (state.at === "asking") return <p class="asking">Asking the node…</p>;
  if (state.at === "out") return <LoginPage api={api} why={state.why} onEntered={enter} />;
  return <Shell api={api} session={state.session} refresh={enter} onLogOut={logOut} />;
}

/** The token of the address's fragment, which is removed at once so that nobody reads or shares it. */
function takeToken(): string {
  const token = tokenIn(location.hash);
  if (token) history.replaceState(null, "", location.pathname + location.search);
  return token;
}
