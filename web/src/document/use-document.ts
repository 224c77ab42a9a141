import { useCallback, useEffect, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import type { Document } from "../generated/api";
import { usePoll, wordsOf } from "../use-poll";
import { type Key, readDocument, readHistory, type Type } from "./calls";

/** A document as it was read. */
export interface Opened {
  /** Undefined until it was read; version 0 for one that is not there. */
  document: Document | undefined;
  /** All versions, the newest first. */
  history: readonly Document[];
  /** Why it could not be read, "" if it could. */
  problem: string;
  /** Reads it anew, and returns it. */
  read(): Promise<Document | undefined>;
}

const blank = (key: Key, type: Type): Document => ({
  ...key,
  type,
  text: "",
  version: 0,
  by: "",
  at: "",
  note: "",
  deleted: false,
});

/**
 * A document, and its versions, asked again so that what others do shows. A type says that it is to
 * be written, so that nothing is read before.
 */
export function useDocument(api: Api, key: Key, type: Type | undefined, epoch: number): Opened {
  const { owner, name } = key;
  const [document, setDocument] = useState<Document | undefined>(type && blank(key, type));
  const [problem, setProblem] = useState("");
  const [changes, setChanges] = useState(0);
  const isNew = type !== undefined;
  const ask = useCallback(
    () => (isNew ? Promise.resolve([]) : versions(api, { owner, name })),
    [api, owner, name, isNew],
  );
  const { data: history = [] } = usePoll(ask, 10_000, epoch + changes);
  const read = useCallback(async () => {
    setChanges((n) => n + 1);
    try {
      const found = await readDocument(api, { owner, name });
      setDocument(found);
      setProblem("");
      return found;
    } catch (err) {
      const isGone = err instanceof Problem && err.status === 404;
      if (isGone) setDocument(blank({ owner, name }, "yaml"));
      setProblem(isGone ? "" : wordsOf(err));
      return undefined;
    }
  }, [api, owner, name]);
  // The node that came back may have another text; what is being typed stays
  useEffect(() => {
    if (!isNew) void read();
  }, [read, isNew, epoch]);
  return { document, history, problem, read };
}

async function versions(api: Api, key: Key): Promise<readonly Document[]> {
  try {
    return await readHistory(api, key);
  } catch (err) {
    if (err instanceof Problem && err.status === 404) return [];
    throw err;
  }
}
