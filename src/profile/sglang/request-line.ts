import { type Budget, newBudget, type PythonValue, readPython } from "./python-literal.ts";

export type Values = { readonly [key: string]: unknown };

/** A `Receive:` or `Finish:` line of `--log-requests`. */
export interface RequestLine {
  readonly finished: boolean;
  /** Request ids: several when one call holds a batch; empty when the line shows none. */
  readonly rids: readonly string[];
  /** `out['meta_info']` of a finished request; undefined when the line lost it or never had it. */
  readonly meta: Values | undefined;
}

const OBJ = /^(Receive|Finish): obj=/;
const FIRST_RID = /^\w+: obj=\w+\(rid='([^'\\]{1,200})'/;
/** Places tried for `, out=` when the request object cannot be read. */
const MAX_TRIES = 16;

/**
 * Reads `Finish: obj=GenerateReqInput(rid='…', text='…', …), headers={…}, out={'text': '…', 'meta_info': {…}}`.
 *
 * The prompt stands inside `obj` and the answer inside `out`, and either may hold a copy of such a line. So the object is read
 * from the front as the `repr` it is; if it has a part that is no literal, `out` is the value that ends where the line ends.
 *
 * @see sglang `srt/utils/request_logger.py` at 013a199bc; `srt/utils/common.py` `dataclass_to_string_truncated` (2024–2025)
 */
export function parseRequestLine(message: string): RequestLine | undefined {
  const head = OBJ.exec(message);
  if (head === null) return undefined;
  const finished = head[1] === "Finish";
  const end = message.trimEnd().length;
  const budget = newBudget();
  const obj = readPython(message, head[0].length, budget);
  const rids = obj === undefined ? FIRST_RID.exec(message.slice(0, 300))?.slice(1, 2) : ridsOf(obj.value);
  if (!finished) return { finished, rids: rids ?? [], meta: undefined };
  const meta = metaOf(
    (obj === undefined ? undefined : outAfter(message, obj.end, end, budget)) ?? outFromEnd(message, end),
  );
  const id = meta?.["id"];
  const fallback = typeof id === "string" ? [id] : [];
  return { finished, rids: rids === undefined || rids.length === 0 ? fallback : rids, meta };
}

/** `out` in its place: right after the object, or after `headers`. */
function outAfter(message: string, at: number, end: number, budget: Budget): PythonValue | undefined {
  let next = at;
  if (message.startsWith(", headers=", next)) {
    const headers = readPython(message, next + 10, budget);
    if (headers === undefined) return undefined;
    next = headers.end;
  }
  if (!message.startsWith(", out=", next)) return undefined;
  const out = readPython(message, next + 6, budget);
  return out?.end === end ? out.value : undefined;
}

function outFromEnd(message: string, end: number): PythonValue | undefined {
  const budget = newBudget();
  let at = message.lastIndexOf(", out={", end);
  for (let tries = 0; at > 0 && tries < MAX_TRIES; tries++) {
    const out = readPython(message, at + 6, budget);
    // a copy inside a string ends before the string does
    if (out?.end === end) return out.value;
    at = message.lastIndexOf(", out={", at - 1);
  }
  return undefined;
}

function metaOf(out: PythonValue | undefined): Values | undefined {
  const meta = isObject(out) ? out["meta_info"] : undefined;
  return isObject(meta) ? meta : undefined;
}

function ridsOf(obj: PythonValue): string[] {
  const rid = isObject(obj) ? obj["rid"] : undefined;
  return (Array.isArray(rid) ? rid : [rid]).filter((one): one is string => typeof one === "string");
}

export const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
