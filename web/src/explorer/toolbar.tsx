import type { ComponentChildren } from "preact";
import { panBy, type Span, zoomAt } from "../span";
import type { Moving } from "./use-window";
import { comparisons, type ExplorerView, figures, shows, spans, steps } from "./view";
import { When } from "./when";
import { comparisonNames, figureNames, showNames, stepNames } from "./words";

interface Props {
  view: ExplorerView;
  moving: Moving;
  onShow(next: ExplorerView): void;
  zone: string;
  now: number;
  children: ComponentChildren;
}

/** What to show and when. */
export function Toolbar({ view, moving, onShow, zone, now, children }: Props) {
  return (
    <div class="explore-tools">
      <div class="explore-when">
        <Ranges view={view} moving={moving} onShow={onShow} />
        <When
          window={moving.window}
          zone={zone}
          now={now}
          onChoose={([from, to]) => onShow({ ...view, range: { from, to } })}
        />
      </div>
      <div class="explore-options">
        <Choice
          label="Compare"
          options={comparisons}
          names={comparisonNames}
          chosen={view.comparison}
          onChoose={(comparison) => onShow({ ...view, comparison })}
        />
        {view.comparison !== "" && (
          <button
            type="button"
            aria-pressed={view.difference}
            onClick={() => onShow({ ...view, difference: !view.difference })}
          >
            Difference
          </button>
        )}
        <Choice
          label="Steps"
          options={steps}
          names={stepNames}
          chosen={view.step}
          onChoose={(step) => onShow({ ...view, step })}
        />
        {view.step !== "" && (
          <Choice
            label="Figure of each step"
            options={figures}
            names={figureNames}
            chosen={view.figure}
            onChoose={(figure) => onShow({ ...view, figure })}
          />
        )}
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <div role="group" aria-label="Show as" class="joined">
          {shows.map((show) => (
            <button
              key={show}
              type="button"
              aria-pressed={view.show === show}
              onClick={() => onShow({ ...view, show })}
            >
              {showNames[show]}
            </button>
          ))}
        </div>
        <button
          type="button"
          aria-pressed={view.statistics}
          onClick={() => onShow({ ...view, statistics: !view.statistics })}
        >
          Statistics
        </button>
        {children}
      </div>
    </div>
  );
}

function Ranges({ view, moving, onShow }: Pick<Props, "view" | "moving" | "onShow">) {
  const { range } = view;
  const by = (next: (span: Span) => Span) => () => {
    const [from, to] = next(moving.window);
    moving.move(from, to);
  };
  const buttons = [
    { label: "Earlier", sign: "‹", go: by((s) => panBy(s, -0.5)) },
    { label: "Later", sign: "›", go: by((s) => panBy(s, 0.5)) },
    { label: "Zoom out", sign: "−", go: by((s) => zoomAt(s, 2, 0.5)) },
    { label: "Zoom in", sign: "+", go: by((s) => zoomAt(s, 0.5, 0.5)) },
  ];
  return (
    <div class="ranges">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Time range" class="joined">
        {spans.map((s) => (
          <button
            key={s.key}
            type="button"
            aria-pressed={!moving.isMoving && "last" in range && range.last === s.ms}
            onClick={() => onShow({ ...view, range: { last: s.ms } })}
          >
            {s.label}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Move in time" class="joined">
        {buttons.map((b) => (
          <button
            key={b.label}
            type="button"
            class="sign"
            aria-label={b.label}
            title={b.label}
            onClick={b.go}
          >
            {b.sign}
          </button>
        ))}
      </div>
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  options: readonly T[];
  names: Record<T, string>;
  chosen: T;
  onChoose(chosen: T): void;
}

function Choice<T extends string>({ label, options, names, chosen, onChoose }: ChoiceProps<T>) {
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={(e) => onChoose(options[e.currentTarget.selectedIndex] ?? chosen)}
    >
      {options.map((o) => (
        <option key={o} value={o}>
          {names[o]}
        </option>
      ))}
    </select>
  );
}
