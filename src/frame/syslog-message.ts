/** The control characters that rsyslog writes as `#` and three octal digits, and that log lines have. */
const ESCAPED = /#(000|011|012|015|033)/g;
const CHARACTERS: Readonly<Record<string, string>> = {
  // a C string's end, which Python's SysLogHandler appends
  "000": "",
  "011": "\t",
  "012": "\n",
  "015": "\r",
  "033": "\u001b",
};

/**
 * The message as its program wrote it: `#012` back to a newline, `#011` to a tab, `#033` to ESC. A JSON object that is
 * whole as it stands keeps its `#`: it was one line before.
 *
 * @see rsyslog 8.2302 `parser.escapeControlCharactersOnReceive`
 */
export function unescapeSyslog(text: string): string {
  return text.includes("#0") ? text.replace(ESCAPED, (found, octal: string) => CHARACTERS[octal] ?? found) : text;
}
