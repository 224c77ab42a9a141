/** A time as the API takes it; milliseconds that are zero are left out. */
export const iso = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
