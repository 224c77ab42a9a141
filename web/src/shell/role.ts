/** What a person may do, the least first; each includes those before it. */
export const roles = ["viewer", "operator", "engineer", "administrator"] as const;

/** A role of the node's accounts. */
export type Role = (typeof roles)[number];

/** What each role is for, in a few words. */
export const rolePurpose: Record<Role, string> = {
  viewer: "sees everything, changes nothing",
  operator: "also acknowledges and commands",
  engineer: "also changes the configuration and looks into the bus",
  administrator: "also manages people",
};

/** Whether somebody with the role `has` may do what needs `needed`; unknown roles may nothing. */
export function includes(has: string, needed: Role): boolean {
  return (roles as readonly string[]).indexOf(has) >= roles.indexOf(needed);
}
