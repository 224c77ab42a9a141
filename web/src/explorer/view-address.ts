/** The address of a saved view: a link within this page, which the node checks, too. */
export const viewAddress = (link: string) => (link.startsWith("/explore?") ? link : "/explore");
