/** The login token of a fragment such as "#token=abc", or "" if there is none. */
export function tokenIn(fragment: string): string {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token") ?? "";
}
