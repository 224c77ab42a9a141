import type { Api } from "../api";
import {
  byteOrders,
  type Draft,
  hasOrder,
  isBit,
  mayWrite,
  noRegister,
  type Register,
  tables,
  types,
} from "./draft";
import { ListFields } from "./list-fields";
import { SunSpecFields } from "./sunspec-fields";

interface Props {
  api: Api;
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** Where the device is, and which registers to read. */
export function ModbusFields({ api, draft, onChange }: Props) {
  const { registers } = draft;
  return (
    <>
      <div class="fields">
        <label>
          Address
          <input
            type="text"
            placeholder="192.168.1.20:502"
            maxLength={253}
            autocomplete="off"
            value={draft.address}
            onInput={(e) => onChange({ address: e.currentTarget.value })}
          />
        </label>
        <label>
          Unit
          <input
            type="text"
            inputMode="numeric"
            maxLength={3}
            value={draft.unit}
            onInput={(e) => onChange({ unit: e.currentTarget.value })}
          />
        </label>
        <label>
          Time-out of a request, in seconds
          <input
            type="text"
            inputMode="decimal"
            placeholder="1"
            maxLength={6}
            value={draft.timeout}
            onInput={(e) => onChange({ timeout: e.currentTarget.value })}
          />
        </label>
      </div>
      <SunSpecFields api={api} draft={draft} onChange={onChange} />
      <fieldset class="registers">
        <legend>Registers, with addresses from 0 as on the wire</legend>
        <p class="sources">
          <label>
            <input
              type="radio"
              name="registers"
              checked={!draft.fromList}
              onChange={() => onChange({ fromList: false })}
            />
            One by one
          </label>
          <label>
            <input
              type="radio"
              name="registers"
              checked={draft.fromList}
              onChange={() => onChange({ fromList: true })}
            />
            From a list
          </label>
        </p>
        {draft.fromList ? (
          <ListFields draft={draft} onChange={onChange} />
        ) : (
          <RegisterRows registers={registers} onChange={onChange} />
        )}
      </fieldset>
    </>
  );
}

interface RowsProps {
  registers: readonly Register[];
  onChange(change: Partial<Draft>): void;
}

function RegisterRows({ registers, onChange }: RowsProps) {
  const setRegister = (index: number, change: Partial<Register>) =>
    onChange({ registers: registers.map((r, i) => (i === index ? { ...r, ...change } : r)) });
  return (
    <>
      {registers.map((register, i) => (
        <RegisterRow
          key={i}
          number={i + 1}
          register={register}
          onChange={(change) => setRegister(i, change)}
          onRemove={
            registers.length > 1
              ? () => onChange({ registers: registers.filter((_, k) => k !== i) })
              : undefined
          }
        />
      ))}
      <button type="button" onClick={() => onChange({ registers: [...registers, noRegister] })}>
        Add a register
      </button>
    </>
  );
}

interface RowProps {
  number: number;
  register: Register;
  onChange(change: Partial<Register>): void;
  onRemove: (() => void) | undefined;
}

function RegisterRow({ number, register: r, onChange, onRemove }: RowProps) {
  const text = (
    key: "name" | "address" | "unit" | "scale" | "offset",
    label: string,
    placeholder: string,
  ) => (
    <input
      type="text"
      aria-label={`${label} of register ${number}`}
      placeholder={placeholder}
      maxLength={64}
      autocomplete="off"
      value={r[key]}
      onInput={(e) => onChange({ [key]: e.currentTarget.value })}
    />
  );
  const list = (key: "table" | "type", label: string, options: readonly string[]) => (
    <select
      aria-label={`${label} of register ${number}`}
      value={r[key]}
      onChange={(e) => onChange({ [key]: e.currentTarget.value })}
    >
      {options.map((o) => (
        <option key={o}>{o}</option>
      ))}
    </select>
  );
  return (
    <div class="register">
      {text("name", "Name", "name")}
      {list("table", "Table", tables)}
      {text("address", "Address", "address")}
      {isBit(r) ? <span class="quiet">bool</span> : list("type", "Type", types)}
      {text("unit", "Unit", "unit")}
      {onRemove && (
        <button
          type="button"
          class="remove"
          aria-label={`Remove register ${number}`}
          onClick={onRemove}
        >
          ×
        </button>
      )}
      <div class="conversion">
        {hasOrder(r) && (
          <select
            aria-label={`Byte order of register ${number}`}
            value={r.byteOrder}
            onChange={(e) => onChange({ byteOrder: e.currentTarget.value })}
          >
            {byteOrders.map(([key, name]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        )}
        {!isBit(r) && text("scale", "Scale", "scale 1")}
        {!isBit(r) && text("offset", "Offset", "offset 0")}
        {mayWrite(r) && (
          <label class="writable">
            <input
              type="checkbox"
              aria-label={`Register ${number} is writable`}
              checked={r.writable}
              onChange={(e) => onChange({ writable: e.currentTarget.checked })}
            />
            writable
          </label>
        )}
      </div>
    </div>
  );
}
