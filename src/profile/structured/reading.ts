import { parseDurationMs, UNIT_MS } from "../../core/duration.ts";
import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import { Latency, type LatencyKind } from "../../model/latency.ts";
import type { JsonObject } from "../../model/line.ts";
import { type RejectReason, RequestRecord } from "../../model/record.ts";
import { Field, type Meaning } from "./fields.ts";
import { KeyNode } from "./key-tree.ts";
import type { Pairs } from "./key-value.ts";

/** Objects inside objects are read to this depth. */
const MAX_DEPTH = 5;
const MAX_SCORES = 1000;

/** Severity as a rank; text, pino, Python, syslog and OTLP numbers are brought to it. */
export const Severity = { unknown: 0, debug: 1, info: 2, warn: 3, error: 4 } as const;

/** Everything one structured line says, before it is decided what kind of line it is. */
export class Reading {
  readonly record = new RequestRecord();
  severity: number = Severity.unknown;
  message: string | undefined = undefined;
  event: string | undefined = undefined;
  method: string | undefined = undefined;
  statusWord: string | undefined = undefined;
  errorKind: string | undefined = undefined;
  errorText: string | undefined = undefined;
  /** An error object or text was there (not null, not empty, not false). */
  hasError = false;
  stack: string | undefined = undefined;
  collection: string | undefined = undefined;
  tool: string | undefined = undefined;
  rule: string | undefined = undefined;
  docTenants: readonly string[] | undefined = undefined;
  /** A figure that only a call of a model has. */
  llm = false;
  /** Fields with a meaning. */
  known = 0;
  tenantWeak: string | undefined = undefined;
  modelWeak: string | undefined = undefined;
  weakE2eMs: number | undefined = undefined;
  /** Durations whose unit neither key nor value names; the logger's convention decides. */
  unitless: Array<{ readonly kind: LatencyKind; readonly value: number; readonly weak: boolean }> | undefined =
    undefined;
  /** Marks of logger conventions. */
  epochSecondsTs = false;
  hasMsg = false;
  hasMessage = false;
  numericLevel = false;
  timeKey: string | undefined = undefined;
  upperLevel = false;

  duration(meaning: Meaning, ms: number): void {
    if (meaning.weak) this.weakE2eMs ??= ms;
    else if (this.record.latencies.get(meaning.kind as LatencyKind) === undefined)
      this.record.latencies.set(meaning.kind as LatencyKind, ms);
  }
}

const POWERS = [1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/**
 * A decimal number, scientific notation included; NaN for anything else (`0x1f`, `Infinity`, words). Up to fifteen digits are
 * read here: an integer below 2^53 over a power of ten below 10^22 is rounded correctly, as `Number` would.
 */
function decimal(text: string): number {
  const { length } = text;
  let digits = 0;
  let point = -1;
  let at = 0;
  for (; at < length && length <= 16; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) digits = digits * 10 + code - 48;
    else if (code === 46 && point < 0 && at > 0) point = at;
    else break;
  }
  if (at === length && length > 0 && length <= 15)
    return point < 0 ? digits : digits / (POWERS[length - point - 1] as number);
  const first = text.charCodeAt(0);
  const second = text.charCodeAt(1) | 32;
  // digit, + - . ; then no x, o, b (other bases) and no i (Infinity)
  if ((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46) {
    return second === 120 || second === 111 || second === 98 || second === 105 ? Number.NaN : Number(text);
  }
  return Number.NaN;
}

const NOT_A_NUMBER = /^[+-]?(?:nan|inf(?:inity)?)$/i;

/** Reads keys and values of any logger; one per parser, so that keys are learned per stream. */
export class StructuredReader {
  readonly #root = KeyNode.root();
  readonly #zone: ZoneOffset;
  readonly #reject: (reason: RejectReason) => void;

  constructor(options: { zone: ZoneOffset; reject: (reason: RejectReason) => void }) {
    this.#zone = options.zone;
    this.#reject = options.reject;
  }

  readJson(object: JsonObject): Reading {
    const reading = new Reading();
    this.#walk(object, this.#root, reading, 0);
    this.#settle(reading);
    return reading;
  }

  readPairs({ keys, values, count }: Pairs): Reading {
    const reading = new Reading();
    for (let index = 0; index < count; index++) {
      const key = keys[index] as string;
      const { meaning } = this.#root.child(key);
      if (meaning !== undefined) this.#value(reading, meaning, key, values[index] as string);
    }
    this.#settle(reading);
    return reading;
  }

  #walk(object: JsonObject, parent: KeyNode, reading: Reading, depth: number): void {
    for (const key in object) {
      const value = object[key];
      if (value === null || value === undefined) continue;
      const node = parent.child(key);
      const { meaning } = node;
      if (typeof value === "object") {
        if (meaning !== undefined && Array.isArray(value)) this.#array(reading, meaning, value);
        else if (!Array.isArray(value)) {
          if (meaning?.field === Field.error) reading.hasError = true;
          if (depth < MAX_DEPTH) this.#walk(value as JsonObject, node, reading, depth + 1);
        }
      } else if (meaning !== undefined) this.#value(reading, meaning, key, value as string | number | boolean);
    }
  }

  #array(reading: Reading, meaning: Meaning, values: readonly unknown[]): void {
    switch (meaning.field) {
      case Field.scores: {
        const scores = values.slice(0, MAX_SCORES).map(Number).filter(Number.isFinite);
        if (scores.length > 0) reading.record.scores ??= scores;
        break;
      }
      case Field.docTenants:
        reading.docTenants = values.filter((value) => typeof value === "string").slice(0, 1000);
        break;
      case Field.finishReason:
        if (typeof values[0] === "string") reading.record.finishReason ??= values[0];
        break;
      default:
    }
  }

  #value(reading: Reading, meaning: Meaning, key: string, value: string | number | boolean): void {
    const { record } = reading;
    reading.known++;
    switch (meaning.field) {
      case Field.duration:
        this.#duration(reading, meaning, value);
        if (meaning.llm) reading.llm = true;
        return;
      case Field.tokensIn:
        record.tokensIn ??= this.#tokens(value);
        break;
      case Field.tokensInCached:
        record.tokensInCached ??= this.#tokens(value);
        break;
      case Field.tokensInProcessed:
        record.tokensInProcessed ??= this.#tokens(value);
        break;
      case Field.tokensOut:
        record.tokensOut ??= this.#tokens(value);
        break;
      case Field.tokensOutReasoning:
        record.tokensOutReasoning ??= this.#tokens(value);
        break;
      case Field.cost:
        record.costUsd ??= this.#number(value);
        break;
      case Field.retries:
        record.retries ??= this.#number(value);
        return;
      case Field.status:
        this.#status(reading, value, key);
        return;
      case Field.stream:
        record.stream = value === true || value === "true";
        return;
      case Field.level:
        level(reading, value);
        return;
      case Field.pythonLevel:
        if (reading.severity === Severity.unknown)
          reading.severity = Number(value) >= 40 ? Severity.error : Number(value) >= 30 ? Severity.warn : Severity.info;
        return;
      case Field.time:
        this.#time(reading, key, value);
        return;
      case Field.error:
        if (value === false || value === "" || value === 0 || value === "null" || value === "None") return;
        reading.hasError = true;
        if (typeof value === "string") reading.errorText ??= value;
        return;
      default:
        if (typeof value === "string") text(reading, meaning.field, key, value);
        else if (typeof value === "number") text(reading, meaning.field, key, String(value));
        return;
    }
    if (meaning.llm) reading.llm = true;
  }

  #duration(reading: Reading, meaning: Meaning, value: string | number | boolean): void {
    if (typeof value === "boolean") return;
    if (typeof value === "number") {
      if (meaning.unitMs > 0) reading.duration(meaning, value * meaning.unitMs);
      else (reading.unitless ??= []).push({ kind: meaning.kind as LatencyKind, value, weak: meaning.weak });
      return;
    }
    const trimmed = value.trim();
    if (trimmed === "" || trimmed === "-" || trimmed === "null" || trimmed === "None") return;
    const number = decimal(trimmed);
    if (!Number.isNaN(number)) {
      this.#duration(reading, meaning, number);
      return;
    }
    if (NOT_A_NUMBER.test(trimmed)) {
      this.#reject("not-a-number");
      return;
    }
    const ms = parseDurationMs(trimmed);
    if (Number.isNaN(ms)) this.#reject("not-a-number");
    else reading.duration(meaning, ms);
  }

  #number(value: string | number | boolean): number | undefined {
    if (typeof value === "number") return value;
    if (typeof value === "boolean") return undefined;
    const trimmed = value.trim();
    if (trimmed === "" || trimmed === "-" || trimmed === "null" || trimmed === "None") return undefined;
    const number = decimal(trimmed);
    if (!Number.isNaN(number)) return number;
    this.#reject("not-a-number");
    return undefined;
  }

  #tokens(value: string | number | boolean): number | undefined {
    return this.#number(value);
  }

  #status(reading: Reading, value: string | number | boolean, key: string): void {
    const number = typeof value === "number" ? value : decimal(String(value));
    if (Number.isInteger(number) && number >= 100 && number <= 599) reading.record.httpStatus ??= number;
    else if (typeof value === "string" && key !== "code") reading.statusWord ??= value.toLowerCase();
  }

  #time(reading: Reading, key: string, value: string | number | boolean): void {
    if (Number.isFinite(reading.record.timeMs)) return;
    reading.timeKey = key;
    const number = typeof value === "number" ? value : decimal(String(value));
    if (!Number.isNaN(number)) {
      if (key === "ts" && number < 1e11) reading.epochSecondsTs = true;
      reading.record.timeMs = epochMs(number);
    } else if (typeof value === "string") reading.record.timeMs = parseIso(value, 0, this.#zone).timeMs;
  }

  /** Applies conventions that need the whole line. */
  #settle(reading: Reading): void {
    const { record } = reading;
    record.tenant ??= reading.tenantWeak;
    record.model ??= reading.modelWeak;
    if (reading.unitless !== undefined) {
      const unitMs = unitByConvention(reading);
      for (const { kind, value, weak } of reading.unitless) {
        if (unitMs === undefined) this.#reject("unknown-unit");
        else reading.duration({ field: Field.duration, kind, unitMs, llm: false, weak }, value * unitMs);
      }
    }
    if (reading.weakE2eMs !== undefined && record.latencies.get(Latency.e2e) === undefined)
      record.latencies.set(Latency.e2e, reading.weakE2eMs);
  }
}

function text(reading: Reading, field: Field, key: string, value: string): void {
  if (value === "" || value === "-" || value === "null" || value === "None") return;
  const { record } = reading;
  switch (field) {
    case Field.model:
      record.model ??= value;
      reading.llm = true;
      return;
    case Field.modelWeak:
      reading.modelWeak ??= value;
      reading.llm = true;
      return;
    case Field.tenant:
      record.tenant ??= value;
      return;
    case Field.tenantWeak:
      reading.tenantWeak ??= value;
      return;
    case Field.route:
      record.route ??= pathOnly(value);
      return;
    case Field.method:
      reading.method ??= value.toUpperCase();
      return;
    case Field.requestId:
      record.id ??= value;
      return;
    case Field.traceId:
      record.traceId ??= value;
      return;
    case Field.finishReason:
      record.finishReason ??= value;
      reading.llm = true;
      return;
    case Field.errorKind:
      reading.errorKind ??= value;
      return;
    case Field.errorText:
      reading.errorText ??= value;
      return;
    case Field.stack:
      reading.stack ??= value;
      return;
    case Field.collection:
      reading.collection ??= value;
      return;
    case Field.tool:
      reading.tool ??= value;
      return;
    case Field.rule:
      reading.rule ??= value;
      return;
    case Field.gpu:
      record.gpu ??= value;
      return;
    case Field.message:
      reading.message ??= value;
      if (key === "msg") reading.hasMsg = true;
      else reading.hasMessage = true;
      return;
    case Field.event:
      reading.event ??= value;
      return;
    default:
  }
}

function pathOnly(value: string): string {
  const path = /^https?:\/\/[^/]*(\/[^?#]*)?/.exec(value);
  if (path !== null) return path[1] ?? "/";
  const end = value.search(/[?#]/);
  return end < 0 ? value : value.slice(0, end);
}

function level(reading: Reading, value: string | number | boolean): void {
  if (reading.severity !== Severity.unknown) return;
  if (typeof value === "number") {
    reading.numericLevel = true;
    // pino's scale; syslog and OTLP numbers come under keys of their own
    reading.severity =
      value >= 50 ? Severity.error : value >= 40 ? Severity.warn : value >= 30 ? Severity.info : Severity.debug;
    return;
  }
  const word = String(value);
  reading.upperLevel = word === word.toUpperCase();
  const head = word.slice(0, 3).toLowerCase();
  if (head === "inf" || head === "not") reading.severity = Severity.info;
  else if (head === "war") reading.severity = Severity.warn;
  else if (
    head === "err" ||
    head === "cri" ||
    head === "fat" ||
    head === "pan" ||
    head === "eme" ||
    head === "ale" ||
    head === "dpa"
  )
    reading.severity = Severity.error;
  else if (head === "deb" || head === "tra") reading.severity = Severity.debug;
}

/** Seconds, milliseconds, microseconds or nanoseconds since the epoch, told apart by magnitude. */
function epochMs(value: number): number {
  if (value < 1e11) return value * 1000;
  if (value < 1e14) return value;
  return value < 1e17 ? value / 1e3 : value / 1e6;
}

/**
 * Milliseconds in one unit of a bare duration, by the habit of the logger that wrote the line.
 *
 * @see zap `NewProductionEncoderConfig`: durations as float seconds beside `ts`; zerolog `DurationFieldUnit`: milliseconds
 * beside `time` and `message`; slog: nanoseconds beside upper-case levels and `msg`; pino-http `responseTime`: milliseconds.
 */
function unitByConvention(reading: Reading): number | undefined {
  if (reading.epochSecondsTs && reading.hasMsg) return UNIT_MS["s"];
  if (reading.numericLevel && reading.timeKey === "time") return UNIT_MS["ms"];
  if (reading.timeKey === "time" && reading.hasMessage && !reading.upperLevel) return UNIT_MS["ms"];
  if (reading.timeKey === "time" && reading.hasMsg && reading.upperLevel) return UNIT_MS["ns"];
  return undefined;
}
