import { useState } from "preact/hooks";
import { type Draft, maxList } from "./draft";

interface Props {
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** A list of registers, as a file or pasted. */
export function ListFields({ draft, onChange }: Props) {
  const [wrong, setWrong] = useState("");
  const read = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > maxList) {
      return setWrong(`${file.name} is larger than 512 KiB; split it, or name it in the settings.`);
    }
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      setWrong("");
      onChange({ list: text });
    } catch {
      setWrong(`${file.name} is not text in UTF-8; save it as CSV UTF-8.`);
    }
  };
  return (
    <div class="list">
      <label>
        File of the list
        <input
          type="file"
          accept=".csv,.yaml,.yml,.json,.txt"
          onChange={(e) => void read(e.currentTarget.files?.[0])}
        />
        <span class="quiet">CSV or YAML, also a register map of VOLTTRON.</span>
      </label>
      <p role="alert" class="problem">
        {wrong}
      </p>
      <label>
        Text of the list
        <textarea
          rows={8}
          spellcheck={false}
          autocomplete="off"
          placeholder={"name,table,address,type,unit\nsupply,holding,0,float32,degC"}
          value={draft.list}
          onInput={(e) => onChange({ list: e.currentTarget.value })}
        />
      </label>
    </div>
  );
}
