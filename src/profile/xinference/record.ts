import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";

/** One record of Xinference's logging, whichever of its three formats it came in. */
export interface XinferenceRecord {
  readonly timeMs: number;
  readonly level: string;
  /** Logger's name, e.g. `xinference.core.model`. */
  readonly module: string;
  readonly message: string;
  /** Traceback that a JSON line carries in a field; text prints it on the following lines. */
  readonly exception: string | undefined;
}

/** 1.x: `2025-07-08 17:36:59,526 xinference.core.worker 458 INFO     message` */
const OLD =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (xinference(?:\.\w+)*|uvicorn\.\w+) \d+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) +/;
/** Since 2026-05: `2026-06-01T10:00:00.123Z INFO xinference.core.worker pid:458 role:worker address:10.0.0.3:4 node:n message` */
const NEW =
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR|CRITICAL) ([\w.]{1,120}) pid:\d+ role:\S* address:\S* node:\S* /;

/**
 * @see xinference `deploy/utils.py` (`TextFileFormatter`, `JsonFileFormatter`) at 012855fe (3.x); `deploy/utils.py` at v1.5.0
 */
export function parseRecord(line: Line, zone: ZoneOffset): XinferenceRecord | undefined {
  const { text } = line;
  const first = text.charCodeAt(0);
  if (first === 123) return parseJson(line, zone);
  if (first < 48 || first > 57 || text.charCodeAt(4) !== 45) return undefined;
  const separator = text.charCodeAt(10);
  const found = separator === 84 ? NEW.exec(text) : separator === 32 ? OLD.exec(text) : null;
  if (found === null) return undefined;
  const [whole, one = "", other = ""] = found;
  const [level, module] = separator === 84 ? [one, other] : [other, one];
  const { timeMs } = parseIso(text, 0, zone);
  return { timeMs, level, module, message: text.slice(whole.length), exception: undefined };
}

function parseJson(line: Line, zone: ZoneOffset): XinferenceRecord | undefined {
  const { json } = line;
  if (json === undefined) return undefined;
  const { "@timestamp": time, module, message, level, exception } = json;
  if (typeof module !== "string" || typeof message !== "string" || typeof time !== "string") return undefined;
  if (!("role" in json) || !("address" in json) || !("node" in json)) return undefined;
  return {
    timeMs: parseIso(time, 0, zone).timeMs,
    level: typeof level === "string" ? level : "INFO",
    module,
    message,
    exception: typeof exception === "string" ? exception : undefined,
  };
}

/** The end of a generation, with its tokens. */
export interface Finished {
  readonly id: string;
  readonly reason: string | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Since 2026-05, milliseconds. */
  readonly elapsedMs: number | undefined;
}

const FINISHED =
  /^Generate finished, request_id: (\S+), stop reason: ([^,]*), prompt tokens: ([^,\s]+), completion tokens: ([^,\s]+), all tokens: [^,\s]+(?:, elapsed: (\S+?)s(?:,|$))?/;

/** @see xinference `model/llm/vllm/core.py` at v1.5.0 and 7ecec16b (3.2.1) */
export function parseFinished(message: string): Finished | undefined {
  const found = FINISHED.exec(message);
  if (found === null) return undefined;
  const [, id = "", reason = "", tokensIn, tokensOut, elapsed] = found;
  return {
    id,
    reason: reason === "" || reason === "None" ? undefined : reason,
    tokensIn: Number(tokensIn),
    tokensOut: Number(tokensOut),
    elapsedMs: elapsed === undefined ? undefined : Number((Number(elapsed) * 1000).toFixed(6)),
  };
}
