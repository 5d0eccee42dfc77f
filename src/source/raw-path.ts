/**
 * File names are bytes. Inside this folder a path is a string of one character per byte (Latin-1 of the bytes), so that names
 * which are no UTF-8 can be opened, compared and matched like any other.
 */
export type RawPath = string;

const ASCII = /^[\u0001-\u007f]*$/;

/** What the user wrote (UTF-8) as a raw path. */
export function rawPath(text: string): RawPath {
  return ASCII.test(text) ? text : Buffer.from(text).toString("latin1");
}

/** What `node:fs` takes. */
export function osPath(raw: RawPath): string | Buffer {
  return ASCII.test(raw) ? raw : Buffer.from(raw, "latin1");
}

const CONTROL = /[\u0000-\u001f\u007f]/g;
const escape = (byte: number): string => `\\x${byte.toString(16).padStart(2, "0")}`;

/** For people and labels: valid Unicode on one line; a byte that is none of it stands as `\xNN`. */
export function shownPath(raw: RawPath): string {
  const bytes = Buffer.from(raw, "latin1");
  let text = bytes.toString("utf8");
  if (text.includes("\ufffd") && !Buffer.from(text).equals(bytes)) text = shownBytes(bytes);
  return text.replace(CONTROL, (character) => escape(character.charCodeAt(0)));
}

function shownBytes(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes[at] as number);
    const piece = bytes.subarray(at, at + length);
    const character = piece.toString("utf8");
    if (length > 0 && Buffer.from(character).equals(piece)) {
      text += character;
      at += length;
    } else text += escape(bytes[at++] as number);
  }
  return text;
}

/** Bytes of the UTF-8 sequence that `first` begins; 0 when it begins none. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

export function folderOf(raw: RawPath): RawPath {
  const slash = raw.lastIndexOf("/");
  return slash <= 0 ? "/" : raw.slice(0, slash);
}

export function nameOf(raw: RawPath): string {
  return raw.slice(raw.lastIndexOf("/") + 1);
}

export function joined(folder: RawPath, name: string): RawPath {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}
