import { useCallback, useState } from "preact/hooks";
import { Problem } from "../api";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { AccountStep } from "./account-step";
import { DeviceStep } from "./device-step";
import { PlotStep } from "./plot-step";
import { askSetup, type Setup } from "./setup";
import "./welcome.css";

const steps = ["Site and administrator", "First device", "First plot"] as const;

/** The first steps on a node: somebody who may log in, a device, and its curve. */
export function WelcomeScreen({ api, epoch, refresh, session }: ScreenProps) {
  const ask = useCallback(async (): Promise<Setup> => {
    try {
      return await askSetup(api);
    } catch (err) {
      if (err instanceof Problem) return { needed: false, node: "" };
      throw err;
    }
  }, [api]);
  const { data: setup, problem } = usePoll(ask, 60_000, epoch);
  const [site, setSite] = useState<string>();
  const [admitted, setAdmitted] = useState(false);
  const [device, setDevice] = useState<string>();
  if (!setup) return <p class="asking">{problem || "Asking the node…"}</p>;

  const at = device !== undefined ? 2 : setup.needed && !admitted ? 0 : 1;
  const name = site ?? setup.node;
  return (
    <div class="screen welcome">
      <h1>First steps</h1>
      <ol class="steps" aria-label="Steps">
        {steps.map((step, i) => (
          <li
            key={step}
            class={i < at ? "is-done" : ""}
            {...(i === at ? { "aria-current": "step" as const } : {})}
          >
            {step}
          </li>
        ))}
      </ol>
      {at === 0 && (
        <AccountStep
          api={api}
          site={name}
          onSite={setSite}
          onDone={async () => {
            setAdmitted(true);
            await refresh();
          }}
        />
      )}
      {at === 1 && (
        <DeviceStep
          api={api}
          role={session.role}
          site={name}
          onSite={setSite}
          onAdded={setDevice}
        />
      )}
      {at === 2 && device !== undefined && (
        <PlotStep api={api} epoch={epoch} device={device} onAnother={() => setDevice(undefined)} />
      )}
    </div>
  );
}
