// Gaps that were filled from the log of a device.

/** The quality of a value from the log of the device. */
export const filled = "good(backfilled)";

/**
 * Which samples only say that a device could not be read at a time whose values are there: the bad ones beside a value from its log,
 * with only bad ones between. A curve leaves them out, so that it has no hole. quality is "" for good.
 */
export function outdone(qualities: readonly string[]): boolean[] {
  const found = new Array<boolean>(qualities.length).fill(false);
  const pass = (indices: Iterable<number>) => {
    let beside = false;
    for (const i of indices) {
      const quality = qualities[i] ?? "";
      if (quality.startsWith("bad")) found[i] ||= beside;
      else beside = quality === filled;
    }
  };
  pass(qualities.keys());
  pass([...qualities.keys()].reverse());
  return found;
}
