import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import type { ScreenProps } from "../shell/screens";
import { wordsOf } from "../use-poll";
import { applyConfig, type Config, readConfig } from "./config";
import "./settings.css";
import { Workbench } from "./workbench";

const words = { act: "Apply", busy: "Applying…", done: "Applied." };

/** The configuration of this node. */
export function SettingsScreen({ api, epoch }: ScreenProps) {
  const { config, problem, read } = useConfig(api, epoch);
  const apply = (text: string, version: string) => applyConfig(api, text, version);
  return (
    <div class="screen settings">
      <h1>Settings</h1>
      <p class="quiet">
        <a class="link" href="/welcome">
          Find and add devices
        </a>
      </p>
      {problem && <p class="problem">{problem}</p>}
      {!config && !problem && <p class="asking">Reading the configuration…</p>}
      {config && (
        <Workbench api={api} config={config} apply={apply} words={words} onChanged={read} />
      )}
    </div>
  );
}

/** The configuration of the node that is asked. */
export function useConfig(api: Api, epoch: number) {
  const [config, setConfig] = useState<Config>();
  const [problem, setProblem] = useState("");
  const read = useCallback(async () => {
    try {
      setConfig(await readConfig(api));
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
  }, [api]);
  // The node that came back may have another text; what is being typed stays
  useEffect(() => void read(), [read, epoch]);
  return { config, problem, read };
}
