import { useState } from "preact/hooks";
import { plain } from "../format";
import type { Invited } from "../generated/api";
import { margin, qrPath } from "./qr";
import { placeWords } from "./words";

interface Props {
  invited: Invited;
  /** How the invitation is now. */
  state: string | undefined;
  onDone(): void;
}

/** The code of a new invitation, which is shown this once: to copy, to type, for a camera. */
export function InvitedCode({ invited, state, onDone }: Props) {
  const { code, qr, invitation } = invited;
  const path = qrPath(qr);
  const size = qr.length + 2 * margin;
  if (state === "used") {
    return (
      <section class="node-code" aria-label="Code of the invitation">
        <p role="status">
          <strong>The code was used.</strong>{" "}
          {invitation.approved
            ? "The node is in."
            : "The node stands above, and waits for your approval."}
        </p>
        <p class="actions">
          <button type="button" onClick={onDone}>
            Close
          </button>
        </p>
      </section>
    );
  }
  return (
    <section class="node-code" aria-label="Code of the invitation">
      <div class="node-code-words">
        <p>
          <strong>Invitation for {plain(invitation.name) || "one node"}.</strong> Copy it now: it is
          shown only this once. Who has it can be that node, so carry it like a password.
        </p>
        <p>
          On the other machine, where Voltbus is installed, run this and paste the code; or paste it
          on its screen <em>Nodes, Parent</em>:
        </p>
        <Copied label="Command" text="voltbus join" />
        <Copied label="Code" text={code} />
        <p class="quiet">
          {placeWords(invitation.prefix)}. It leads to {invited.addresses.map(plain).join(", ")}.
        </p>
        <p class="actions">
          <button type="button" onClick={onDone}>
            I have it
          </button>
        </p>
      </div>
      {path && (
        <svg
          class="node-qr"
          viewBox={`0 0 ${size} ${size}`}
          role="img"
          aria-label="The code for a camera"
          shape-rendering="crispEdges"
        >
          <rect width={size} height={size} fill="#fff" />
          <path d={path} fill="#000" />
        </svg>
      )}
    </section>
  );
}

function Copied({ label, text }: { label: string; text: string }) {
  const [told, setTold] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setTold("Copied.");
    } catch {
      setTold("This browser does not let the page copy: choose the text and copy it yourself.");
    }
  };
  return (
    <p class="node-copied">
      <code class={`node-${label.toLowerCase()}-text`}>{text}</code>
      <button
        type="button"
        aria-label={`Copy the ${label.toLowerCase()}`}
        onClick={() => void copy()}
      >
        Copy
      </button>
      <span role="status" class="quiet">
        {told}
      </span>
    </p>
  );
}
