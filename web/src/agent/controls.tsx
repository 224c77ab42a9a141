import { useState } from "preact/hooks";
import { plain } from "../format";
import { go } from "../shell/place";
import { includes, type Role } from "../shell/role";
import { wordsOf } from "../use-poll";
import type { PartProps } from "./page";
import type { Row } from "./row";

/** Something to do with an agent. */
interface Action {
  route: string;
  label: string;
  role: Role;
  /** What is asked before; left out if it does no harm. */
  question?: string;
}

interface Props extends PartProps {
  row: Row;
  onChanged(): void;
}

/** What can be done with the agent, as far as the role allows. */
export function Controls({ api, name, role, row, onChanged }: Props) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState("");
  const perform = async (action: Action) => {
    if (action.question && !confirm(action.question)) return;
    setBusy(action.route);
    try {
      await act(api, name, action.route);
      setProblem("");
      if (action.route === "remove") go("/agents");
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setBusy("");
    onChanged();
  };
  const actions = actionsFor(row).filter((a) => includes(role, a.role));
  return (
    <>
      <p class="actions">
        {actions.map((a) => (
          <button
            key={a.route}
            type="button"
            disabled={busy !== ""}
            onClick={() => void perform(a)}
          >
            {busy === a.route ? `${a.label}…` : a.label}
          </button>
        ))}
      </p>
      <p role="alert" class="problem agent-words">
        {plain(problem)}
      </p>
    </>
  );
}

function act(api: PartProps["api"], name: string, route: string): Promise<unknown> {
  const at = `agents/${encodeURIComponent(name)}`;
  if (route === "remove") return api.send("DELETE", `${at}/process`);
  if (route === "forget") return api.send("DELETE", at);
  return api.send("POST", `${at}/${route}`);
}

/** What makes sense with the agent as it is now. */
function actionsFor(row: Row): Action[] {
  const { name, process: p, identity } = row;
  const shutOut: Action[] =
    identity && !identity.revoked
      ? [
          {
            route: "revoke",
            label: "Shut out",
            role: "administrator",
            question: `Shut ${name} out of the bus at once? Its name and key are refused from then on.`,
          },
        ]
      : [];
  if (!p) return identity?.revoked ? [forget(name)] : shutOut;
  const stops = p.state !== "stopped" && p.state !== "failed";
  const started: Action[] = stops
    ? [
        { route: "restart", label: "Restart", role: "operator" },
        {
          route: "stop",
          label: "Stop",
          role: "operator",
          question: `Stop ${name}? It stays stopped until somebody starts it.`,
        },
      ]
    : [{ route: "start", label: "Start", role: "operator" }];
  const withNode: Action[] = [
    p.autostart === "enabled"
      ? { route: "disable", label: "Do not start with the node", role: "engineer" }
      : { route: "enable", label: "Start with the node", role: "engineer" },
  ];
  const back: Action[] =
    p.previous.length > 0
      ? [
          {
            route: "rollback",
            label: `Back to version ${p.previous.at(-1)}`,
            role: "engineer",
            question: `Run version ${p.previous.at(-1)} of ${name} again, instead of version ${p.version}?`,
          },
        ]
      : [];
  return [...started, ...withNode, ...back, ...shutOut, remove(name)];
}

const remove = (name: string): Action => ({
  route: "remove",
  label: "Remove",
  role: "engineer",
  question: `Remove ${name} with its files, key and rights? What it recorded stays.`,
});

const forget = (name: string): Action => ({
  route: "forget",
  label: "Forget",
  role: "administrator",
  question: `Forget ${name}? Its name and key can then be registered anew.`,
});
