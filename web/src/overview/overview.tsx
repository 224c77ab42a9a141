import { health } from "../health";
import { LedgerPanel } from "../ledger-panel";
import type { ScreenProps } from "../shell/screens";

/** Whether all is well, and what to do if not. */
export function OverviewScreen({ books, problem }: ScreenProps) {
  if (!books) return <p class="asking">{problem || "Asking the node how it does…"}</p>;
  const { devices, ledger } = books;
  const all = health(devices, ledger);
  return (
    <div class="screen">
      <h1>Overview</h1>
      <p class={`card verdict is-${all.level}`}>{all.text}.</p>
      <LedgerPanel ledger={ledger} />
    </div>
  );
}
