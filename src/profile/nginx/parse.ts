import { putBounded } from "../../core/bounded-map.ts";
import type { Line } from "../../model/line.ts";
import type { FailureRecord, RequestRecord } from "../../model/record.ts";
import { pathOf } from "../access-line.ts";
import { causeOfStatus } from "../gateway/status.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { readCombined, startsCombined } from "./combined.ts";
import { type ErrorLine, keyOf, readError, startsError } from "./error-log.ts";
import { objectIn, readAccess } from "./json.ts";
import { type NginxAccess, recordOf } from "./request.ts";

interface HeldErrors {
  readonly lines: ErrorLine[];
  /** Wall time of the newest, ms since the epoch. */
  heldAtMs: number;
}

interface NginxState {
  /** Access lines stand in this stream too (a container writes both): they decide what an error line came to. */
  access: boolean;
  /** Error lines whose request has not ended yet, by client and request line. */
  held: Map<string, HeldErrors>;
}

const MAX_HELD = 500;
const MAX_LINES = 50;
/** How long an error line waits for the access line of its request, and where no access lines are written. */
const WAIT_MS = 600_000;
const WAIT_ALONE_MS = 5000;

export class NginxParser implements Parser {
  state: NginxState = { access: false, held: new Map() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    if (startsError(text)) {
      const error = readError(text, this.#context.zone);
      if (error !== undefined) this.#error(error, line.readMs);
      return;
    }
    const object = objectIn(line);
    if (object !== undefined) this.#access(readAccess(object, line.timeMs, this.#context));
    else if (startsCombined(text)) {
      const access = readCombined(text, this.#context);
      if (access !== undefined) this.#access(access);
    }
  }

  flush(nowMs: number, final: boolean): void {
    const waitMs = this.state.access ? WAIT_MS : WAIT_ALONE_MS;
    for (const [key, { lines, heldAtMs }] of this.state.held) {
      if (!final && nowMs - heldAtMs < waitMs) continue;
      this.state.held.delete(key);
      for (const line of lines) this.#failure(line);
    }
  }

  #error(error: ErrorLine, readMs: number): void {
    if (error.key === undefined) {
      this.#failure(error);
      return;
    }
    const { held } = this.state;
    const known = held.get(error.key);
    if (known !== undefined && known.lines.length < MAX_LINES) {
      known.lines.push(error);
      known.heldAtMs = readMs;
      return;
    }
    for (const line of known?.lines ?? []) this.#failure(line);
    held.delete(error.key);
    const dropped = putBounded(held, error.key, { lines: [error], heldAtMs: readMs }, MAX_HELD);
    for (const line of dropped?.lines ?? []) this.#failure(line);
  }

  #access(access: NginxAccess): void {
    this.state.access = true;
    const record = recordOf(access);
    const errors = this.#takeErrors(access);
    if (record.kind === "request" && record.outcome !== "ok") record.failure = failureOf(record, errors.at(-1));
    else if (errors.length > 0) {
      // tries that failed while the request did not, and what failed of other paths
      this.#context.emit({ kind: "count", timeMs: access.timeMs, name: "upstream_errors", by: errors.length });
    }
    this.#context.emit(record);
  }

  #takeErrors({ client, method, target }: NginxAccess): readonly ErrorLine[] {
    if (this.state.held.size === 0 || client === undefined || method === undefined) return [];
    const key = keyOf(client, method, pathOf(target ?? ""));
    const lines = this.state.held.get(key)?.lines ?? [];
    this.state.held.delete(key);
    return lines;
  }

  #failure({ timeMs, text, cause, route }: ErrorLine): void {
    this.#context.emit({ kind: "failure", timeMs, text, cause, route });
  }
}

/** The status names the cause, the error log's line of the last try tells it in words. */
function failureOf(record: RequestRecord, error: ErrorLine | undefined): FailureRecord {
  const { timeMs, tenant, route, httpStatus: status = 0 } = record;
  return {
    kind: "failure",
    timeMs,
    text: error?.text ?? `HTTP ${status} ${route ?? ""}`.trim(),
    cause: error?.cause ?? causeOfStatus(status),
    httpStatus: status,
    tenant,
    route,
    requestId: record.id,
  };
}
