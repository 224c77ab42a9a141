interface Props {
  label: string;
  placeholder: string;
  value: string;
  onInput(value: string): void;
}

/** A line of text with its label. */
export const Field = ({ label, placeholder, value, onInput }: Props) => (
  <label>
    {label}
    <input
      type="text"
      autocomplete="off"
      placeholder={placeholder}
      value={value}
      onInput={(e) => onInput(e.currentTarget.value)}
    />
  </label>
);
