import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import { PointName } from "../point-name";
import { usePoll, wordsOf } from "../use-poll";
import {
  actionItems,
  deviceItems,
  findPoints,
  type Known,
  mostPoints,
  pointItem,
  savedItems,
  screenItems,
} from "./items";
import { choose, type Item, wordsIn } from "./match";
import "./palette.css";

interface Props extends Known {
  api: Api;
  /** What was typed before it was there. */
  begun: string;
  onClose(): void;
}

/** Goes to a point, a device or a screen, or does something, by its name. */
export function Palette({ api, begun, onClose, ...known }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key is pressed
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const isDone = useRef(false);
  const close = () => {
    if (isDone.current) return;
    isDone.current = true;
    dialog.current?.close();
    onClose();
  };
  const [search, setSearch] = useState(begun);
  const [isSetting, setIsSetting] = useState(false);
  const points = usePointSearch(api, search, isSetting);
  const items = useItems(api, known, isSetting, points.items, () => {
    setIsSetting(true);
    setSearch("");
  });
  const shown = useMemo(() => choose(items, search), [items, search]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by itself
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Jump to"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <Combobox
        search={search}
        placeholder={isSetting ? "Which point?" : "A point, device, screen or action"}
        shown={shown}
        busy={points.busy}
        onSearch={setSearch}
        onBack={() => setIsSetting(false)}
        onRun={(item) => {
          if (!item.stays) close();
          item.run();
        }}
        onClose={close}
      />
      <p class="palette-note quiet" role="status">
        {noteOf(search, shown.length, points, isSetting)}
      </p>
    </dialog>
  );
}

function useItems(
  api: Api,
  known: Known,
  isSetting: boolean,
  points: readonly Item[],
  onSet: () => void,
): Item[] {
  const saved = usePoll(
    useMemo(() => () => savedItems(api), [api]),
    10 * 60_000,
    0,
  ).data;
  const { session, parts, alarms, devices } = known;
  const fixed = useMemo(
    () => [...screenItems(known), ...actionItems(known, onSet), ...deviceItems(devices)],
    [session, parts, alarms, devices],
  );
  return useMemo(
    () => (isSetting ? [...points] : [...fixed, ...points, ...(saved ?? [])]),
    [isSetting, fixed, points, saved],
  );
}

interface Found {
  items: readonly Item[];
  busy: boolean;
  /** Why points could not be searched for, "" if they could. */
  problem: string;
  /** Whether there are more points than were asked for. */
  more: boolean;
}

const nothing: Found = { items: [], busy: false, problem: "", more: false };

/** The points that the node finds; what was found last stays until the next answer. */
function usePointSearch(api: Api, search: string, isSetting: boolean): Found {
  const [found, setFound] = useState<Found>(nothing);
  const words = wordsIn(search).join(" ");
  useEffect(() => {
    if (words === "" && !isSetting) return setFound(nothing);
    const stop = new AbortController();
    setFound((old) => ({ ...old, busy: true }));
    findPoints(api, words, isSetting, stop.signal)
      .then(({ points, more }) => setFound({ ...nothing, items: points.map(pointItem), more }))
      .catch((err) => {
        if (!stop.signal.aborted) setFound({ ...nothing, problem: wordsOf(err) });
      });
    return () => stop.abort();
  }, [api, words, isSetting]);
  return found;
}

function noteOf(search: string, shown: number, points: Found, isSetting: boolean): string {
  if (points.problem) return `Points cannot be searched for: ${plain(points.problem)}`;
  if (points.busy) return "Searching…";
  const many = points.more ? ` More than ${mostPoints} points match; type another word.` : "";
  if (search.trim() === "" && !isSetting) return "Type to find points, too.";
  if (shown === 0) return isSetting ? "No writable point matches." : "Nothing matches.";
  return `${shown} shown.${many}`;
}

interface ComboboxProps {
  search: string;
  placeholder: string;
  shown: readonly Item[];
  busy: boolean;
  onSearch(text: string): void;
  onRun(item: Item): void;
  /** Is told that an empty text is taken back further. */
  onBack(): void;
  onClose(): void;
}

/** A line to type in, and the list of what fits, of which one is active. */
function Combobox({
  search,
  placeholder,
  shown,
  busy,
  onSearch,
  onRun,
  onBack,
  onClose,
}: ComboboxProps) {
  const id = useId();
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const at = Math.min(active, shown.length - 1);
  // Another search begins at its best
  useEffect(() => setActive(0), [search]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, shown]);

  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, () => void> = {
      ArrowDown: () => setActive(shown.length > 0 ? (at + 1) % shown.length : 0),
      ArrowUp: () => setActive(shown.length > 0 ? (at - 1 + shown.length) % shown.length : 0),
      PageDown: () => setActive(Math.min(shown.length - 1, at + 8)),
      PageUp: () => setActive(Math.max(0, at - 8)),
      Enter: () => {
        const item = shown[at];
        if (item && !event.isComposing) onRun(item);
      },
    };
    if (event.key === "Backspace" && search === "") onBack();
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (!move) return;
    event.preventDefault();
    move();
  };

  return (
    <>
      <div class="palette-line">
        <input
          type="text"
          role="combobox"
          aria-label={placeholder}
          aria-expanded={shown.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          {...(shown[at] ? { "aria-activedescendant": `${id}-${at}` } : {})}
          aria-busy={busy}
          placeholder={placeholder}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          autofocus
          maxLength={1024}
          value={search}
          onInput={(e) => onSearch(e.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <div ref={list} id={`${id}-list`} class="palette-list" role="listbox" aria-label="Matches">
        {shown.map((item, i) => (
          <Option
            key={item.key}
            id={`${id}-${i}`}
            item={item}
            isActive={i === at}
            isFirst={item.group !== shown[i - 1]?.group}
            onRun={() => onRun(item)}
          />
        ))}
      </div>
    </>
  );
}

interface OptionProps {
  id: string;
  item: Item;
  isActive: boolean;
  /** Whether it is the first of its group, which is told then. */
  isFirst: boolean;
  onRun(): void;
}

function Option({ id, item, isActive, isFirst, onRun }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the combobox has the focus and names this option
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      class={`palette-item${isActive ? " is-active" : ""}`}
      onClick={onRun}
    >
      {item.isPath ? (
        <PointName path={item.more} description={item.text === item.more ? "" : item.text} />
      ) : (
        <span class="point-name">
          <span class="point-what">{plain(item.text)}</span>
          <span class="palette-more quiet">{plain(item.more)}</span>
        </span>
      )}
      <span class={`palette-group quiet${isFirst ? "" : " is-again"}`}>{item.group}</span>
    </div>
  );
}
