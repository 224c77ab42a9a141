import { useCallback, useEffect, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { dateTime, plain } from "../format";
import { type Count, countOf, ratesOf, remember } from "../overview/rates";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import type { Books } from "../use-site";
import { Figures } from "./figures";
import { Proof } from "./proof";
import "../overview/overview.css";

/** What `voltbus lab capacity` found. */
interface Capacity {
  measured: string;
  words: string[] | null;
}

const calm = 15_000;

/** The node as a machine: how much goes through, the proof that nothing is lost, and what room there is. */
export function SystemScreen({ api, books, problem, epoch }: ScreenProps) {
  const rates = useRates(books);
  const ask = useCallback(() => askCapacity(api), [api]);
  const { data: capacity } = usePoll(ask, calm, epoch);
  if (!books) return <p class="asking">{problem || "Asking the node for its health…"}</p>;
  return (
    <div class="screen overview">
      <h1>System</h1>
      <Figures devices={books.devices} ledger={books.ledger} rates={rates} />
      <Proof ledger={books.ledger} />
      {capacity?.words && capacity.words.length > 0 && (
        <HeadRoom words={capacity.words} measured={capacity.measured} />
      )}
    </div>
  );
}

/** What this machine carries. */
const HeadRoom = ({ words, measured }: { words: readonly string[]; measured: string }) => (
  <section class="card panel" aria-labelledby="room-title">
    <h2 id="room-title">Head-room</h2>
    <p>{words.map(plain).join(" ")}</p>
    <p class="quiet">Measured on {dateTime(Date.parse(measured))} by voltbus lab capacity.</p>
  </section>
);

/** A node need not have been measured: that is no trouble. */
async function askCapacity(api: Api): Promise<Capacity | undefined> {
  try {
    return await api.get<Capacity>("capacity");
  } catch (err) {
    if (err instanceof Problem) return undefined;
    throw err;
  }
}

function useRates(books: Books | undefined) {
  const [counts, setCounts] = useState<readonly Count[]>([]);
  useEffect(() => {
    if (books) setCounts((old) => remember(old, countOf(books, performance.now())));
  }, [books]);
  return ratesOf(counts);
}
