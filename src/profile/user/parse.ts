import { parseDurationMs, UNIT_MS } from "../../core/duration.ts";
import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import { LATENCY_NAMES, Latency } from "../../model/latency.ts";
import { Line } from "../../model/line.ts";
import { type RejectReason, RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import type { Matcher, Values } from "./matcher.ts";
import type { Pattern } from "./pattern.ts";
import type { UserProfile } from "./schema.ts";

/** Lines and characters of one multi-line record. */
const MAX_LINES = 500;
const MAX_CHARS = 64 * 1024;
const QUIET_MS = 5000;

interface Held {
  lines: string[];
  chars: number;
  timeMs: number;
  readMs: number;
}

/** Reads the lines of a user's profile: each match is one request. */
export class UserParser implements Parser {
  /** The record that is being joined, for profiles with `multiline`. */
  state: { held: Held | undefined } = { held: undefined };
  readonly #context: ParserContext;
  readonly #profile: UserProfile;
  readonly #match: Matcher;
  readonly #start: Pattern | undefined;
  readonly continues?: (line: Line) => boolean;

  constructor(context: ParserContext, profile: UserProfile, match: Matcher, start: Pattern | undefined) {
    this.#context = context;
    this.#profile = profile;
    this.#match = match;
    this.#start = start;
    if (start !== undefined) this.continues = (line) => this.#join(line);
  }

  parse(line: Line): void {
    if (this.#start === undefined) {
      this.#record(line);
      return;
    }
    this.#release();
    this.state.held = { lines: [line.text], chars: line.text.length, timeMs: line.timeMs, readMs: line.readMs };
  }

  flush(nowMs: number, final: boolean): void {
    const { held } = this.state;
    if (held !== undefined && (final || !(nowMs - held.readMs < QUIET_MS))) this.#release();
  }

  #join(line: Line): boolean {
    const { held } = this.state;
    if (held === undefined || this.#start?.test(line.text) !== false) return false;
    if (held.lines.length < MAX_LINES && held.chars + line.text.length <= MAX_CHARS) {
      held.lines.push(line.text);
      held.chars += line.text.length + 1;
    }
    return true;
  }

  #release(): void {
    const { held } = this.state;
    if (held === undefined) return;
    this.state.held = undefined;
    const whole = new Line();
    whole.setText(held.lines.join("\n"));
    whole.timeMs = held.timeMs;
    whole.readMs = held.readMs;
    this.#record(whole);
  }

  #record(line: Line): void {
    const values = this.#match(line);
    if (values === undefined) return;
    this.#context.emit(readRequest(this.#profile, values, line, this.#context));
  }
}

/** One request out of the values of a matched line. */
export function readRequest(
  { fields, labels }: UserProfile,
  values: Values,
  line: Line,
  context: { readonly zone: ZoneOffset; reject(reason: RejectReason): void },
): RequestRecord {
  const record = new RequestRecord();
  record.timeMs = line.timeMs;
  const source = (field: keyof typeof fields): { value: unknown; unit: string } | undefined => {
    const from = fields[field];
    if (from === undefined) return undefined;
    const value = values(typeof from === "string" ? from : from.from);
    return value === undefined || value === null || value === "" || value === "-"
      ? undefined
      : { value, unit: typeof from === "string" ? "auto" : from.unit };
  };
  const text = (field: keyof typeof fields): string | undefined => {
    const found = source(field);
    return found === undefined ? undefined : String(found.value);
  };
  const figure = (field: keyof typeof fields): number | undefined => {
    const found = source(field);
    if (found === undefined) return undefined;
    const value = Number(found.value);
    if (!Number.isNaN(value)) return value;
    context.reject("not-a-number");
    return undefined;
  };
  for (const name of LATENCY_NAMES) {
    const found = source(`${name}_ms`);
    if (found !== undefined) record.latencies.set(Latency[name], durationMs(found.value, found.unit, context.reject));
  }
  record.tokensIn = figure("tokens_in");
  record.tokensInProcessed = figure("tokens_in_processed");
  record.tokensInCached = figure("tokens_in_cached");
  record.tokensOut = figure("tokens_out");
  record.tokensOutReasoning = figure("tokens_out_reasoning");
  record.costUsd = figure("cost_usd");
  record.model = text("model") ?? labels.model;
  record.tenant = text("tenant") ?? labels.tenant;
  record.route = text("route") ?? labels.route;
  record.id = text("request_id");
  record.traceId = text("trace_id");
  record.finishReason = text("finish_reason");
  const status = figure("status");
  if (status !== undefined && Number.isInteger(status)) record.httpStatus = status;
  const time = text("time");
  if (time !== undefined) {
    const parsed = parseIso(time, 0, context.zone).timeMs;
    if (!Number.isNaN(parsed)) record.timeMs = parsed;
  }
  const error = text("error");
  record.outcome = outcomeOf(text("outcome"), record.httpStatus, error);
  if (record.outcome === "error")
    record.failure = {
      kind: "failure",
      timeMs: record.timeMs,
      text: error ?? line.text,
      httpStatus: record.httpStatus,
      model: record.model,
      tenant: record.tenant,
      route: record.route,
      requestId: record.id,
    };
  return record;
}

function durationMs(value: unknown, unit: string, reject: (reason: RejectReason) => void): number | undefined {
  if (unit === "auto") {
    const ms = typeof value === "string" ? parseDurationMs(value) : Number.NaN;
    if (!Number.isNaN(ms)) return ms;
    reject(Number.isNaN(Number(value)) ? "not-a-number" : "unknown-unit");
    return undefined;
  }
  const figure = Number(value);
  if (!Number.isNaN(figure)) return figure * (UNIT_MS[unit] ?? Number.NaN);
  reject("not-a-number");
  return undefined;
}

function outcomeOf(
  word: string | undefined,
  status: number | undefined,
  error: string | undefined,
): "ok" | "error" | "aborted" {
  const lower = word?.toLowerCase();
  if (lower !== undefined && /^(?:abort|aborted|cancel|cancell?ed|client_closed)/.test(lower)) return "aborted";
  if (lower !== undefined && /^(?:err|error|fail|failed|failure|timeout)/.test(lower)) return "error";
  if (status === 499) return "aborted";
  return (status !== undefined && status >= 400) || error !== undefined ? "error" : "ok";
}
