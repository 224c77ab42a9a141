/** The parts of what is about other nodes, as their addresses name them. */
const parts = [
  { address: "/nodes", name: "All nodes" },
  { address: "/nodes/join", name: "Let nodes join" },
  { address: "/nodes/parent", name: "Parent" },
] as const;

/** The ways between them. */
export const Parts = ({ here, waiting }: { here: string; waiting: number }) => (
  <nav class="parts" aria-label="Parts of nodes">
    {parts.map(({ address, name }) => (
      <a
        key={address}
        href={address}
        {...(address === here ? { "aria-current": "page" as const } : {})}
      >
        {name}
        {address === "/nodes/join" && waiting > 0 ? ` (${waiting} waiting)` : ""}
      </a>
    ))}
  </nav>
);

/** The part of an address; that of all nodes if it names none. */
export const partAt = (path: string) =>
  parts.find((p) => p.address === path)?.address ?? parts[0].address;
