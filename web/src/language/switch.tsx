import { choose, chosen, type Language, languages } from "./choice";

/** The choice of the page's language: that of the browser, or always the same. */
export function LanguageSwitch() {
  return (
    <select
      class="language"
      aria-label="Language"
      title="Language"
      value={chosen()}
      onChange={(e) => choose(e.currentTarget.value as Language | "")}
    >
      <option value="">Browser language</option>
      {Object.entries(languages).map(([value, name]) => (
        <option key={value} value={value} lang={value}>
          {name}
        </option>
      ))}
    </select>
  );
}
