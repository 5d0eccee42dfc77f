/** What the first byte of a line lets expect. Most lines of most logs are told by it to be no wrapper's. */
export const Look = {
  plain: 0,
  digit: 1,
  brace: 2,
  angle: 3,
  letter: 4,
  bracket: 5,
  blank: 6,
  escape: 7,
  mark: 8,
  separator: 9,
} as const;

/** {@link Look} by byte. */
export const LOOKS = new Uint8Array(256);
for (let byte = 48; byte <= 57; byte++) LOOKS[byte] = Look.digit;
for (let byte = 65; byte <= 90; byte++) LOOKS[byte] = LOOKS[byte + 32] = Look.letter;
LOOKS[0x7b] = Look.brace;
LOOKS[0x3c] = Look.angle;
LOOKS[0x5b] = Look.bracket;
LOOKS[0x20] = Look.blank;
LOOKS[0x1b] = Look.escape;
// the first byte of a byte order mark, and the record separator of `journalctl -o json-seq`
LOOKS[0xef] = Look.mark;
LOOKS[0x1e] = Look.separator;

const MAY_BE_WRAPPED =
  /^(?:\d{4}-\d\d-\d\d[T ]|\d{10}\.\d{6} |\d{1,6} <|\{ *"(?:log"|stream"|attrs"|[A-Z_]{2})|<\d|\[pod\/|\[ *\d+\.\d{6}\]|[A-Z][a-z]{2} [ \d]\d|[a-zA-Z][\w.-]{0,127} {1,128}\||[a-z0-9.-]{1,250}-[a-z0-9]{5} |data: \{|[\u001b\u001e\ufeff])/;

/** The same look at text that a wrapper had encoded: true when it is worth turning into bytes again. */
export function mayBeWrapped(text: string): boolean {
  return MAY_BE_WRAPPED.test(text);
}
