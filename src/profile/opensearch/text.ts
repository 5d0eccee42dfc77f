import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import { indexOf, partOf, type SlowEntry } from "../elasticsearch/slow-entry.ts";
import { BracketScanner } from "../rag/brackets.ts";

// log4j2 `[%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m`; the logger stands unpadded in the request log
const HEADER =
  /^\[(\d{4}-\d\d-\d\d[T ][\d:]{8}[,.]\d{3}[^\]\s]{0,6})\]\[(?:TRACE|DEBUG|INFO|WARN|ERROR) *\]\[([\w.]{1,80}) *\] ?/;
const TOOK = / ?took\[/;
/** Node, index and shard stand in front of the first field. */
const MAX_NAMES = 1200;
const LAST_ID = /, id\[([^\]]*)\],? *$/;

/** Reads a line of a text slow log (OpenSearch; Elasticsearch up to 7); undefined for lines of others. */
export function readText(text: string, zone: ZoneOffset): SlowEntry | undefined {
  const header = HEADER.exec(text);
  if (header === null) return undefined;
  const part = partOf(header[2] ?? "");
  if (part === undefined) return undefined;
  const rest = text.slice(header[0].length);
  const took = TOOK.exec(rest.slice(0, MAX_NAMES));
  if (took === null) return undefined;
  const names = rest.slice(0, took.index);
  const fields = readFields(rest, took.index);
  return {
    timeMs: parseIso(header[1] ?? "", 0, zone).timeMs,
    part,
    // `[node] [index][shard]`
    index: part === "request" ? undefined : indexOf(names.slice(names.lastIndexOf(" [") + 1)),
    took: fields.get("took"),
    tookMillis: fields.get("took_millis"),
    id: LAST_ID.exec(text)?.[1] || undefined,
    traceId: undefined,
    shards: fields.get("shards"),
  };
}

/** `key[value], key[value], …` up to the source, which holds whatever was searched for. */
function readFields(text: string, from: number): Map<string, string> {
  const fields = new Map<string, string>();
  const scanner = new BracketScanner(text, text.length);
  let at = from;
  while (at < text.length) {
    while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 44) at++;
    const open = text.indexOf("[", at);
    if (open < 0 || open - at > 40) break;
    const key = text.slice(at, open);
    if (key === "source") break;
    const close = scanner.close(open);
    if (!fields.has(key)) fields.set(key, text.slice(open + 1, close));
    at = close + 1;
  }
  return fields;
}
