import { useEffect, useMemo, useState } from "preact/hooks";
import { count, plain } from "../format";
import { ancestorsOf } from "../path";
import { rowHeight, useWindow } from "../use-window";
import { type Branch, type Counts, type Row, visibleRows } from "./tree";

interface Props {
  root: Branch;
  selected: string;
  trouble: ReadonlyMap<string, Counts>;
  /** Whether a search narrows the tree: then all of it is unfolded. */
  searching: boolean;
  onSelect(path: string): void;
}

/** The site as a tree. Arrow keys walk, Enter selects; only the rows on screen exist. */
export function SiteTree({ root, selected, trouble, searching, onSelect }: Props) {
  const folds = useFolds(root, selected, searching);
  const rows = useMemo(
    () => [
      { branch: root, open: true, position: 1, siblings: 1 },
      ...visibleRows(root, folds.isOpen),
    ],
    [root, folds.isOpen],
  );
  const [active, setActive] = useState(selected);
  const list = useWindow<HTMLDivElement>(rows.length, rowHeight());
  const at = Math.max(
    0,
    rows.findIndex((r) => r.branch.path === active),
  );

  const go = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    setActive(row.branch.path);
    list.scrollTo(rows.indexOf(row));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || !press(event.key, row, { at, rows, go, fold: folds.fold, onSelect })) return;
    event.preventDefault();
  };

  return (
    <div
      ref={list.ref}
      class="tree"
      role="tree"
      aria-label="Site"
      tabIndex={0}
      aria-activedescendant={`branch-${at}`}
      onKeyDown={onKeyDown}
    >
      <div
        role="presentation"
        class="tree-space"
        style={{ height: `${rows.length * rowHeight()}px` }}
      >
        {rows.slice(list.first, list.end).map((row, i) => (
          <TreeRow
            key={row.branch.path}
            row={row}
            index={list.first + i}
            isActive={list.first + i === at}
            isSelected={row.branch.path === selected}
            counts={trouble.get(row.branch.path)}
            onFold={() => folds.fold(row.branch.path, !row.open)}
            onSelect={() => {
              setActive(row.branch.path);
              onSelect(row.branch.path);
            }}
          />
        ))}
      </div>
    </div>
  );
}

/** Which branches are unfolded: what the user said, else the first level and the way to the selection. */
function useFolds(root: Branch, selected: string, searching: boolean) {
  const [said, setSaid] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpen = useMemo(() => {
    const way = new Set(ancestorsOf(selected));
    const few = root.total < 500;
    return (b: Branch) =>
      searching || (said.get(b.path) ?? (way.has(b.path) || (few && b.level < 3)));
  }, [said, selected, searching, root.total]);
  useEffect(() => {
    setSaid((old) => new Map([...old].filter(([path]) => !ancestorsOf(selected).includes(path))));
  }, [selected]);
  const fold = (path: string, open: boolean) => setSaid((old) => new Map(old).set(path, open));
  return { isOpen, fold };
}

interface Keyboard {
  at: number;
  rows: readonly Row[];
  go(index: number): void;
  fold(path: string, open: boolean): void;
  onSelect(path: string): void;
}

/** Does what a key means in a tree, and reports whether it means anything. */
function press(key: string, row: Row, k: Keyboard): boolean {
  const { branch } = row;
  const moves: Record<string, () => void> = {
    ArrowDown: () => k.go(k.at + 1),
    ArrowUp: () => k.go(k.at - 1),
    Home: () => k.go(0),
    End: () => k.go(k.rows.length - 1),
    PageDown: () => k.go(k.at + 10),
    PageUp: () => k.go(k.at - 10),
    Enter: () => k.onSelect(branch.path),
    " ": () => k.onSelect(branch.path),
    ArrowRight: () => {
      if (branch.branches.length > 0 && !row.open) k.fold(branch.path, true);
      else if (row.open) k.go(k.at + 1);
    },
    ArrowLeft: () => {
      if (row.open && branch.level > 0) k.fold(branch.path, false);
      else k.go(parentIndex(k));
    },
  };
  const move = Object.hasOwn(moves, key) ? moves[key] : undefined;
  move?.();
  return move !== undefined;
}

function parentIndex({ at, rows }: Keyboard): number {
  const level = rows[at]?.branch.level ?? 0;
  for (let i = at - 1; i > 0; i--) if ((rows[i]?.branch.level ?? 0) < level) return i;
  return 0;
}

interface RowProps {
  row: Row;
  index: number;
  isActive: boolean;
  isSelected: boolean;
  counts: Counts | undefined;
  onFold(): void;
  onSelect(): void;
}

function TreeRow({ row, index, isActive, isSelected, counts, onFold, onSelect }: RowProps) {
  const { branch } = row;
  const folds = branch.branches.length > 0 && branch.level > 0;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names this row
    <div
      id={`branch-${index}`}
      role="treeitem"
      class={`tree-row${isActive ? " active" : ""}`}
      aria-level={branch.level + 1}
      aria-selected={isSelected}
      aria-setsize={row.siblings}
      aria-posinset={row.position}
      {...(folds ? { "aria-expanded": row.open } : {})}
      style={{ top: `${index * rowHeight()}px`, paddingLeft: `${8 + branch.level * 14}px` }}
      onClick={onSelect}
    >
      <span
        class={`twisty${folds ? (row.open ? " open" : " shut") : ""}`}
        aria-hidden="true"
        onClick={(event) => {
          if (!folds) return;
          event.stopPropagation();
          onFold();
        }}
      />
      <span class="tree-name" title={branch.path}>
        {branch.path === "" ? "Whole site" : plain(branch.name) || "(no name)"}
      </span>
      {counts && counts.bad > 0 && <span class="pill is-bad">{count(counts.bad)} bad</span>}
      {counts && counts.stale > 0 && <span class="pill is-warn">{count(counts.stale)} stale</span>}
      <span class="quiet number" title="points">
        {count(branch.total)}
      </span>
    </div>
  );
}
