import { useState } from "preact/hooks";
import type { Api } from "../api";
import { PasswordFields, usePassword } from "../people/password";
import { wordsOf } from "../use-poll";
import { admit } from "./setup";

interface Props {
  api: Api;
  site: string;
  onSite(site: string): void;
  onDone(): Promise<void>;
}

/** Chooses the beginning of the paths, and makes the first person who may log in with a password. */
export function AccountStep({ api, site, onSite, onDone }: Props) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState("");
  const password = usePassword();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (password.problem) return setProblem(password.problem);
    try {
      await admit(api, name.trim(), password.given);
      await onDone();
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <form class="card panel" aria-label="Site and administrator" onSubmit={(e) => void submit(e)}>
      <p>
        You came in by a token. From now on people log in with a name and a password; the first one
        is the administrator, who can let others in.
      </p>
      <SiteField site={site} onSite={onSite} />
      <label>
        Administrator
        <input
          type="text"
          required
          maxLength={64}
          autocomplete="username"
          autocapitalize="off"
          value={name}
          onInput={(e) => setName(e.currentTarget.value)}
        />
        <span class="quiet">A name of letters, digits, and . _ @ - between them.</span>
      </label>
      <PasswordFields password={password} optional={false} />
      <p role="alert" class="problem">
        {problem}
      </p>
      <p class="actions">
        <button type="submit" class="primary">
          Create the administrator
        </button>
      </p>
    </form>
  );
}

/** The name of the site: the beginning of the paths of the devices that are added, and nothing else. */
export function SiteField({ site, onSite }: Pick<Props, "site" | "onSite">) {
  return (
    <label>
      Name of the site
      <input
        type="text"
        required
        maxLength={128}
        autocomplete="off"
        value={site}
        onInput={(e) => onSite(e.currentTarget.value)}
      />
      <span class="quiet">
        The beginning of its devices' paths, such as campus/hq. The node keeps its own name.
      </span>
    </label>
  );
}
