// Zip archives (PKWARE APPNOTE 6.3), compressed by the browser itself.

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

/** The checksum of an entry (ISO 3309). */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Entry {
  name: Bytes;
  crc: number;
  size: number;
  packed: Bytes;
  method: number;
  offset: number;
}

const stored = 0;
const deflated = 8;
const version = 20;
const utf8Names = 0x800;
/** 1980-01-01, the first day of the format: files with the same content are the same. */
const date = 0x21;

async function pack(data: Bytes): Promise<{ packed: Bytes; method: number }> {
  if (typeof CompressionStream === "undefined") return { packed: data, method: stored };
  const stream = new Blob([data]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return { packed: new Uint8Array(await new Response(stream).arrayBuffer()), method: deflated };
}

/** Little-endian numbers, each with its width in bytes. */
function fields(...list: readonly (readonly [value: number, width: 2 | 4])[]): Bytes {
  const bytes = new Uint8Array(list.reduce((sum, [, width]) => sum + width, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, width] of list) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += width;
  }
  return bytes;
}

/** What the local and the central header say alike. */
const common = ({ crc, size, packed, name, method }: Entry) =>
  [
    [version, 2],
    [utf8Names, 2],
    [method, 2],
    [0, 2],
    [date, 2],
    [crc, 4],
    [packed.length, 4],
    [size, 4],
    [name.length, 2],
    [0, 2],
  ] as const;

/** Makes an archive of texts by their names. */
export async function zip(files: Record<string, string>, type: string): Promise<Blob> {
  const encoder = new TextEncoder();
  const pieces: Bytes[] = [];
  const entries: Entry[] = [];
  let offset = 0;
  const put = (bytes: Bytes) => {
    pieces.push(bytes);
    offset += bytes.length;
  };
  for (const [file, text] of Object.entries(files)) {
    const data = encoder.encode(text);
    const entry = {
      name: encoder.encode(file),
      crc: crc32(data),
      size: data.length,
      offset,
      ...(await pack(data)),
    };
    entries.push(entry);
    put(fields([0x04034b50, 4], ...common(entry)));
    put(entry.name);
    put(entry.packed);
  }
  const begin = offset;
  for (const entry of entries) {
    put(
      fields(
        [0x02014b50, 4],
        [version, 2],
        ...common(entry),
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 4],
        [entry.offset, 4],
      ),
    );
    put(entry.name);
  }
  const size = offset - begin;
  const many = entries.length;
  put(fields([0x06054b50, 4], [0, 2], [0, 2], [many, 2], [many, 2], [size, 4], [begin, 4], [0, 2]));
  return new Blob(pieces, { type });
}
