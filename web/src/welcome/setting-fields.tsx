import { useId } from "preact/hooks";
import { plain } from "../format";
import type { Draft } from "./draft";
import { isSeldom, type Setting } from "./schema";

interface Props {
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** The settings of a driver that has no form of its own, as its schema tells them. */
export function SettingFields({ draft, onChange }: Props) {
  const field = (s: Setting) => (
    <SettingField
      key={s.key}
      setting={s}
      value={draft.typed[s.key] ?? ""}
      onInput={(value) => onChange({ typed: { ...draft.typed, [s.key]: value } })}
    />
  );
  const seldom = draft.settings.filter(isSeldom);
  return (
    <>
      <div class="fields">{draft.settings.filter((s) => !isSeldom(s)).map(field)}</div>
      {seldom.length > 0 && (
        <details>
          <summary>More settings</summary>
          <div class="fields">{seldom.map(field)}</div>
        </details>
      )}
    </>
  );
}

interface FieldProps {
  setting: Setting;
  value: string;
  onInput(value: string): void;
}

function SettingField({ setting: s, value, onInput }: FieldProps) {
  const id = useId();
  const change = (e: { currentTarget: { value: string } }) => onInput(e.currentTarget.value);
  const isLong = s.type === "points" || s.type === "json";
  return (
    <div class={`setting${isLong ? " is-long" : ""}`}>
      <label for={id}>{nameOf(s.key)}</label>
      {isLong && <textarea id={id} rows={4} spellcheck={false} value={value} onInput={change} />}
      {s.type === "truth" && (
        <select id={id} value={value} onChange={change}>
          <option value="">{standardOf(s) || "As usual"}</option>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </select>
      )}
      {!isLong && s.type !== "truth" && (
        <input
          id={id}
          type="text"
          autocomplete="off"
          inputMode={s.type === "number" ? "decimal" : "text"}
          placeholder={s.standard}
          value={value}
          onInput={change}
        />
      )}
      <span class="quiet">{plain(hintOf(s))}</span>
    </div>
  );
}

const standardOf = (s: Setting) =>
  s.standard === "true" ? "Yes, the standard" : s.standard === "false" ? "No, the standard" : "";

/** "keep_alive" as people read it. */
const nameOf = (key: string) => {
  if (key === "registry") return "List of points";
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The first sentence of what the reference says, without the key in front. */
function hintOf(s: Setting): string {
  if (s.type === "points")
    return "The text of a CSV or YAML list, or the name of a file. Empty: Try it asks the device for its points.";
  const text = s.doc.replace(/^\w+ (is|are) /, "").replace(/\.\s.*$/s, ".");
  const form =
    s.type === "json" ? " As JSON." : s.type === "texts" ? " Commas between several." : "";
  return text.charAt(0).toUpperCase() + text.slice(1) + form;
}
