/** The sign of Voltbus. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M5 21h6l4-12 4 14 3-7h5" />
    </svg>
  );
}
