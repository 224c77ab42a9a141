import { plain } from "../format";

/** A fingerprint in groups that the eye can compare. */
export const Fingerprint = ({ label, of }: { label: string; of: string }) => (
  <p class="fingerprint">
    <span class="quiet">{label}</span> <code>{plain(of)}</code>
  </p>
);
