import { fromLocal } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { parseAccessLine } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import {
  type AnswerPair,
  flushPair,
  newAnswerPair,
  offerAnswer,
  offerReason,
  type PairSinks,
  passTime,
} from "../rag/answer-pair.ts";
import {
  continueHeld,
  flushHeld,
  type HeldFailure,
  holdFailure,
  newHeldFailure,
  releaseHeld,
} from "../rag/held-failure.ts";
import { causeOfStoreStatus } from "../rag/store-status.ts";
import { decodeSegment } from "../rag/value.ts";

// `%(levelprefix)s [%(asctime)s] …` with `%d-%m-%Y %H:%M:%S` (chromadb/log_config.yml at 93652ec086)
const HEADER = /^(INFO|WARNING|ERROR|CRITICAL|DEBUG): +\[(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d)\] /;
// releases before the log configuration: uvicorn's own line, recognised by its path
const BARE =
  /^INFO: +\S+ - "[A-Z]+ \/api\/(?:v2\/(?:tenants\/|heartbeat|auth\/|pre-flight-checks|version)|v1\/(?:collections|heartbeat|tenants|databases|count_collections|pre-flight-checks)(?:[/? ]))/;
const V2 = /^\/api\/v2\/tenants\/([^/]+)\/databases\/[^/]+\/collections(?:\/([^/]+))?(?:\/([a-z_]+))?\/?$/;
const V1 = /^\/api\/v1\/collections(?:\/([^/]+))?(?:\/([a-z_]+))?\/?$/;
const TENANT_PARAMETER = /[?&]tenant=([^& ]+)/;
const READS: ReadonlySet<string> = new Set(["query", "get", "search"]);
const WRITES: ReadonlySet<string> = new Set(["add", "upsert", "update", "delete"]);

/** True for a line of Chroma's Python server. */
export function isChroma(text: string): boolean {
  return HEADER.test(text) || BARE.test(text);
}

/** What a request asked for. */
interface Answer {
  readonly timeMs: number;
  readonly status: number;
  readonly route: string;
  readonly tenant: string | undefined;
  readonly action: string | undefined;
}

interface State {
  failure: HeldFailure;
  pair: AnswerPair<Answer>;
}

export class ChromaParser implements Parser {
  state: State = { failure: newHeldFailure(), pair: newAnswerPair() };
  readonly #context: ParserContext;
  readonly #sinks: PairSinks<Answer>;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#sinks = {
      answer: (what, reason) => this.#answer(what, reason),
      failure: (record) => context.emit(record),
    };
  }

  parse(line: Line): void {
    const { text, readMs } = line;
    const header = HEADER.exec(text);
    const timeMs = header === null ? line.timeMs : timeOf(header, this.#context);
    releaseHeld(this.state.failure, this.#reason(readMs));
    passTime(this.state.pair, timeMs, this.#sinks);
    const message = header === null ? text.slice(text.indexOf(":") + 1).trimStart() : text.slice(header[0].length);
    const level = header?.[1];
    if (level === "ERROR" || level === "CRITICAL") {
      holdFailure(this.state.failure, { kind: "failure", timeMs, text: message }, readMs, this.#reason(readMs));
      return;
    }
    const access = parseAccessLine(message);
    if (access === undefined) return;
    const { status, method } = access;
    const answer = { timeMs, status, ...readPath(access.route, message, method) };
    if (status >= 500) offerAnswer(this.state.pair, answer, timeMs, readMs, this.#sinks);
    else this.#answer(answer, undefined);
  }

  continues(line: Line): boolean {
    return continueHeld(this.state.failure, line.text, line.readMs, this.#reason(line.readMs));
  }

  flush(nowMs: number, final: boolean): void {
    flushHeld(this.state.failure, nowMs, final, this.#reason(nowMs));
    flushPair(this.state.pair, nowMs, final, this.#sinks);
  }

  /** A whole error block becomes the reason of the answer beside it. */
  #reason(readMs: number): (failure: FailureRecord) => void {
    return (failure) => offerReason(this.state.pair, failure, readMs, this.#sinks);
  }

  #answer(answer: Answer, reason: FailureRecord | undefined): void {
    const { timeMs, status, route, tenant, action } = answer;
    const failure: FailureRecord | undefined =
      status < 400
        ? undefined
        : {
            kind: "failure",
            timeMs,
            text: reason?.text ?? `${route} answered ${status}`,
            // the words of the reason say more than a status of 500
            cause: reason === undefined ? causeOfStoreStatus(status) : undefined,
            httpStatus: status,
            route,
            tenant,
          };
    if (action === undefined || !READS.has(action)) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference: false });
      const write = action !== undefined && WRITES.has(action);
      if (write && failure === undefined) this.#context.emit({ kind: "count", timeMs, name: "writes", by: 1 });
      if (failure !== undefined && (write || reason !== undefined)) this.#context.emit(failure);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.route = route;
    record.tenant = tenant;
    record.httpStatus = status;
    record.outcome = failure === undefined ? "ok" : "error";
    record.failure = failure;
    this.#context.emit(record);
  }
}

function timeOf(header: RegExpExecArray, context: ParserContext): number {
  const [day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0] = header.slice(2).map(Number);
  return fromLocal(Date.UTC(year, month - 1, day, hour, minute, second), context.zone);
}

/** Tenant and action of a path; ids are put aside, so that routes stay few. */
function readPath(path: string, message: string, method: string): Pick<Answer, "route" | "tenant" | "action"> {
  const v2 = V2.exec(path);
  if (v2 !== null) {
    const route = `/api/v2/collections/${v2[3] ?? ""}`.replace(/\/$/, "");
    return { route, tenant: decodeSegment(v2[1] ?? ""), action: method === "POST" ? v2[3] : undefined };
  }
  const v1 = V1.exec(path);
  if (v1 === null) return { route: path, tenant: undefined, action: undefined };
  const tenant = TENANT_PARAMETER.exec(message)?.[1];
  const route = `/api/v1/collections/${v1[2] ?? ""}`.replace(/\/$/, "");
  return {
    route,
    tenant: tenant === undefined ? undefined : decodeSegment(tenant),
    action: method === "POST" ? v1[2] : undefined,
  };
}
