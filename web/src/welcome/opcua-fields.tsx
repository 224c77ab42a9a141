import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import { reasonOf } from "../language/said";
import type { Draft, Security } from "./draft";
import { Field } from "./field";
import { type Neighbour, problemsOf, searchDevices } from "./setup";

interface Props {
  api: Api;
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** How an OPC UA server is reached: its URL is typed, and one of the ways to speak to it that it offers is chosen. */
export function OpcuaFields({ api, draft, onChange }: Props) {
  const [offers, setOffers] = useState<readonly Neighbour[]>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    setBusy(true);
    setProblems([]);
    setOffers(undefined);
    onChange({ security: undefined });
    try {
      const answer = await searchDevices(api, "opcua", { endpoint: draft.endpoint.trim() });
      setOffers(answer.devices ?? []);
    } catch (err) {
      setProblems(problemsOf(err));
    }
    setBusy(false);
  };
  return (
    <>
      <div class="fields">
        <Field
          label="URL of the server"
          placeholder="opc.tcp://10.0.0.20:4840"
          value={draft.endpoint}
          onInput={(endpoint) => {
            setOffers(undefined);
            onChange({ endpoint, security: undefined });
          }}
        />
      </div>
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void ask()}>
          {busy ? "Asking…" : "Ask the server"}
        </button>
        <span class="quiet">A user name and own certificates are for the settings.</span>
      </p>
      <div role="status" aria-label="Offers of the server">
        {problems.map((p) => (
          <p key={p} class="problem">
            {plain(p)}
          </p>
        ))}
        {offers && <Offers offers={offers} draft={draft} onChange={onChange} />}
      </div>
    </>
  );
}

interface OffersProps {
  offers: readonly Neighbour[];
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** The ways to speak to the server, to choose one. */
function Offers({ offers, draft, onChange }: OffersProps) {
  const fingerprint = offers.map((o) => o.config.fingerprint).find(Boolean);
  return (
    <>
      {fingerprint && (
        <p class="detail fingerprint">
          <code>{plain(String(fingerprint))}</code> is the fingerprint of its certificate: compare
          it with that at the server.
        </p>
      )}
      <ul class="tried">
        {offers.map((o) => (
          <li key={o.detail}>
            <label class="kind">
              <input
                type="radio"
                name="offer"
                checked={
                  draft.security?.security === o.config.security &&
                  draft.security?.mode === o.config.mode
                }
                onChange={() => onChange(chosen(o, draft))}
              />
              <span>
                <strong>{nameOf(o.config)}</strong>
                {!o.config.mode && o.note && <span class="problem">{reasonOf(o.note)}</span>}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </>
  );
}

/** How messages are secured, in words. */
const nameOf = ({ security, mode }: Neighbour["config"]) =>
  mode
    ? `${plain(String(security))}, ${mode === "sign" ? "signed only" : "encrypted"}`
    : "Without security";

/** What a draft becomes when an offer is chosen. */
function chosen(o: Neighbour, draft: Draft): Partial<Draft> {
  const { security, mode, fingerprint } = o.config as unknown as Security;
  return {
    name: o.name || draft.name,
    security: {
      security,
      ...(mode ? { mode } : {}),
      ...(fingerprint ? { fingerprint } : {}),
    },
  };
}
