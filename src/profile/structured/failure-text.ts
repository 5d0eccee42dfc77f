import type { FailureRecord } from "../../model/record.ts";
import { causeOfKind, causeOfStatus, isWide } from "./error-cause.ts";
import { Field } from "./field.ts";
import { numberOf } from "./figure.ts";
import type { LineFields } from "./line-fields.ts";

const MAX_CHARS = 64 * 1024;
/** Words that stand in an error field where there is no error. */
const NO_ERROR = new Set(["none", "null", "false", "no", "ok", "0", "no_error", "_other"]);

/** What a line says of its failure. */
export interface Said {
  /** The kind or class as printed; undefined when none is. */
  readonly kind: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly stack: string | undefined;
  /** An error object, text or kind is there at all. */
  readonly any: boolean;
}

const meant = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === "" || NO_ERROR.has(text.toLowerCase()) ? undefined : text;

const ERROR_BITS = [Field.error, Field.errorKind, Field.errorCode, Field.stack].reduce(
  (bits, field) => bits | (1 << (field - 32)),
  0,
);
const NOTHING: Said = { kind: undefined, code: undefined, error: undefined, stack: undefined, any: false };

export function errorOf(fields: LineFields): Said {
  if (!fields.hasAnyHigh(ERROR_BITS)) return NOTHING;
  const value = fields.value(Field.error);
  const error = meant(fields.text(Field.error));
  const kind = meant(fields.text(Field.errorKind));
  const code = meant(fields.text(Field.errorCode));
  const stack = meant(fields.text(Field.stack));
  const object = value === true || (typeof value === "object" && value !== null);
  return {
    kind,
    code,
    error,
    stack,
    any: error !== undefined || kind !== undefined || object || (code !== undefined && code !== "200"),
  };
}

/**
 * The failure a line tells of. Its cause is what the format itself decides: an error kind, code or class; the status only
 * where nothing else is said. Otherwise it is left to the catalogue, which reads the text.
 *
 * @param message The line's message; `bare` when it is made of words like `request failed` alone.
 */
export function failureOf(
  fields: LineFields,
  about: {
    readonly timeMs: number;
    readonly message: string | undefined;
    readonly bare: boolean;
    readonly httpStatus: number | undefined;
    /** What an event name decides (`tool.timeout`). */
    readonly cause?: string | undefined;
  },
): FailureRecord {
  const { kind, code, error, stack } = errorOf(fields);
  const { message, httpStatus } = about;
  // a short error without blanks is a kind: `error=rate_limit`
  const word = error !== undefined && error.length <= 60 && !error.includes(" ") ? error : undefined;
  const named =
    (code === undefined || numberOf(code) > 0 ? undefined : causeOfKind(code)) ??
    (kind === undefined ? undefined : causeOfKind(kind)) ??
    (word === undefined ? undefined : causeOfKind(word)) ??
    causeOfStatusWord(fields);
  const silent = error === undefined && stack === undefined && (message === undefined || about.bare);
  let cause = about.cause ?? named;
  if (cause !== undefined && isWide(cause) && !silent && word === undefined) cause = undefined;
  if (cause === undefined && kind === undefined && silent) {
    const status = httpStatus ?? (code === undefined ? undefined : Number(code));
    if (status !== undefined) cause = causeOfStatus(status);
  }
  return {
    kind: "failure",
    timeMs: about.timeMs,
    text: textOf(message, kind ?? code, error, stack),
    cause,
    httpStatus,
    errorClass: kind ?? code,
    model: fields.text(Field.model),
    tenant: fields.text(Field.tenant),
    route: fields.text(Field.route),
    requestId: fields.text(Field.requestId),
    gpu: fields.text(Field.gpu),
  };
}

/** `status: "DEADLINE_EXCEEDED"`: a status in words may be the kind. */
function causeOfStatusWord(fields: LineFields): string | undefined {
  const status = fields.value(Field.status);
  return typeof status === "string" && !(numberOf(status) >= 0) ? causeOfKind(status) : undefined;
}

/** Message, kind and error in one line, without saying anything twice, then the stack. */
function textOf(
  message: string | undefined,
  kind: string | undefined,
  error: string | undefined,
  stack: string | undefined,
): string {
  let head = message ?? "";
  for (const part of [kind, error]) {
    if (part === undefined || head.includes(part) || stack?.includes(part) === true) continue;
    head = head === "" ? part : `${head}: ${part}`;
  }
  const text = stack === undefined ? head : head === "" || stack.startsWith(head) ? stack : `${head}\n${stack}`;
  return text.length > MAX_CHARS ? text.slice(0, MAX_CHARS) : text;
}
