import { useState } from "preact/hooks";

/** The shortest password that the node takes. */
export const shortest = 10;

/** A new password as it is typed, twice. */
export interface NewPassword {
  given: string;
  again: string;
  /** What keeps it from being used, "" if nothing. */
  problem: string;
  setGiven(text: string): void;
  setAgain(text: string): void;
  clear(): void;
}

/** The state of a new password. */
export function usePassword(): NewPassword {
  const [given, setGiven] = useState("");
  const [again, setAgain] = useState("");
  const clear = () => {
    setGiven("");
    setAgain("");
  };
  return { given, again, problem: problemOf(given, again), setGiven, setAgain, clear };
}

/** What is wrong with a new password, "" if nothing. */
export function problemOf(given: string, again: string): string {
  if (new TextEncoder().encode(given).length < shortest) {
    return `The password needs at least ${shortest} characters.`;
  }
  return given === again ? "" : "The two passwords differ.";
}

interface Props {
  password: NewPassword;
  /** Whether it may be left out, to keep the one that is there. */
  optional: boolean;
}

/** Two fields for a new password. */
export function PasswordFields({ password: p, optional }: Props) {
  const common = { type: "password", autocomplete: "new-password", maxLength: 256 } as const;
  return (
    <>
      <label>
        New password
        <input
          {...common}
          required={!optional}
          value={p.given}
          onInput={(e) => p.setGiven(e.currentTarget.value)}
        />
        <span class="quiet">
          {optional
            ? "Leave it empty to keep the present one."
            : `At least ${shortest} characters.`}
        </span>
      </label>
      <label>
        New password again
        <input
          {...common}
          required={!optional}
          value={p.again}
          onInput={(e) => p.setAgain(e.currentTarget.value)}
        />
      </label>
    </>
  );
}
