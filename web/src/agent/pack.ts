// The upload of an installation: a compressed tar with source/<package> and wheels/<wheel>.

const block = 512;
const longestName = 100;

/** A file of the upload. */
export interface Packed {
  name: string;
  content: Blob;
}

/** Whether the node can install a file of this name. */
export const isPackage = (name: string) => /\.(whl|tar\.gz|zip)$/.test(name);

/** The name of the agent that the name of a package suggests, "" if none. */
export function nameFor(file: string): string {
  const base = file.replace(/\.(whl|tar\.gz|zip)$/, "");
  const name = /^(.+?)-\d/.exec(base)?.[1] ?? base;
  return name
    .replace(/_/g, "-")
    .replace(/[^A-Za-z0-9._-]/g, "")
    .replace(/^[^A-Za-z0-9]+/, "");
}

/** The files as a tar. Names have at most 100 bytes. */
export function tar(files: readonly Packed[]): Blob {
  const parts: BlobPart[] = [];
  for (const { name, content } of files) {
    parts.push(header(name, content.size), content);
    const rest = content.size % block;
    if (rest > 0) parts.push(new Uint8Array(block - rest));
  }
  parts.push(new Uint8Array(2 * block));
  return new Blob(parts);
}

/** A header of the form of POSIX.1-1988: name, mode, size, checksum, type. */
function header(name: string, size: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(block);
  const encoded = new TextEncoder().encode(name);
  if (encoded.length > longestName) {
    throw new Error(`The name ${name} is too long; give the file a shorter one.`);
  }
  out.set(encoded);
  const put = (at: number, text: string) => out.set(new TextEncoder().encode(text), at);
  const octal = (n: number, digits: number) => `${n.toString(8).padStart(digits, "0")}\0`;
  put(100, octal(0o600, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(0, 11));
  put(148, "        ");
  put(156, "0");
  put(257, "ustar\u000000");
  const sum = out.reduce((a, b) => a + b, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return out;
}

/** What the node takes: the package, and the wheels that it needs. */
export async function pack(source: File, wheels: readonly File[]): Promise<Blob> {
  const all = tar([
    { name: `source/${source.name}`, content: source },
    ...wheels.map((w) => ({ name: `wheels/${w.name}`, content: w })),
  ]);
  return new Response(all.stream().pipeThrough(new CompressionStream("gzip"))).blob();
}
