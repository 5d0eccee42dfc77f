import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import {
  continueBare,
  flushRecords,
  joinPhysicalLine,
  newOpenRecords,
  type OpenRecordsState,
  openRecord,
} from "../vllm/open-records.ts";
import { endsInCarriageReturn, parseProcessLine, parseVllmLine, type VllmLine, vllmTimeMs } from "../vllm/prefix.ts";
import { firstEnd, type RequestEnds } from "../vllm/request-ends.ts";
import { writerOf } from "../vllm/writer.ts";
import { parseRequestLine, type RequestLine } from "./request-line.ts";

interface State {
  records: OpenRecordsState;
  ends: RequestEnds;
}

const ABORTED = /^aborted group_request_id (-?\d+)\s*$/;
const EXCEPTION = /^group_request_id: (-?\d+) has exception (.*)/s;

export class LightllmParser implements Parser {
  state: State = { records: newOpenRecords(), ends: new Map() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const parsed = parseVllmLine(line.text);
    if (parsed !== undefined) this.#logged(parsed, line);
  }

  /** Any line of this logging is LightLLM's once LightLLM has shown itself: many of its files are named like vLLM's. */
  continues(line: Line): boolean {
    const parsed = parseVllmLine(line.text);
    if (parsed === undefined) {
      if (parseProcessLine(line.text) !== undefined) return false;
      return continueBare(this.state.records, undefined, line.text, this.#context.emit);
    }
    if (!parsed.bracketed || writerOf(parsed) !== "either") return false;
    this.#logged(parsed, line);
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    flushRecords(this.state.records, nowMs, final, this.#context.emit);
  }

  #logged(parsed: VllmLine, line: Line): void {
    const { message, level } = parsed;
    const physical = { ...parsed, carriageReturn: endsInCarriageReturn(line), readMs: line.readMs };
    if (joinPhysicalLine(this.state.records, physical, this.#context.emit)) return;
    const timeMs = vllmTimeMs(parsed, line, this.#context.zone);
    const aborted = message.startsWith("aborted ") ? ABORTED.exec(message)?.[1] : undefined;
    const failed = message.startsWith("group_request_id: ") ? EXCEPTION.exec(message) : null;
    if (message.startsWith("X-Request-Id:") || message.startsWith("recieved req ")) this.#request(message, timeMs);
    else if (aborted !== undefined) this.#abort(aborted, message, timeMs);
    else if (failed !== null) this.#exception(failed[1] ?? "", failed[2] ?? "", timeMs);
    else if (level === "ERROR" || level === "CRITICAL")
      openRecord(this.state.records, parsed.process, failure(message, timeMs), this.#context.emit);
  }

  #request(message: string, timeMs: number): void {
    const found = parseRequestLine(message);
    if (found === undefined) return;
    // its own health probes
    if (found.id < 0) this.#context.emit({ kind: "count", timeMs, name: "health_probes", by: 1 });
    else if (message.startsWith("recieved req ")) this.#context.emit({ kind: "received", timeMs });
    else this.#finished(found, timeMs);
  }

  #finished(found: RequestLine, timeMs: number): void {
    firstEnd(this.state.ends, String(found.id));
    const record = newRequest(found.clientId === "" ? String(found.id) : found.clientId, timeMs);
    record.tokensIn = found.tokensIn;
    record.tokensInCached = found.tokensInCached;
    record.tokensOut = found.tokensOut;
    record.latencies.set(Latency.e2e, found.e2eMs);
    record.latencies.set(Latency.ttft, found.ttftMs);
    record.latencies.set(Latency.tpot, found.perTokenMs);
    this.#context.emit(record);
  }

  #abort(id: string, message: string, timeMs: number): void {
    if (id.startsWith("-") || !firstEnd(this.state.ends, id)) return;
    const record = newRequest(id, timeMs);
    record.outcome = "aborted";
    record.failure = { ...failure(message, timeMs), cause: "client_cancelled", requestId: id };
    this.#context.emit(record);
  }

  /** A request that raised; one whose client left raises too, after its abort. */
  #exception(id: string, text: string, timeMs: number): void {
    if (id.startsWith("-")) return;
    if (/\bdisconnected\s*$/.test(text)) {
      this.#abort(id, text, timeMs);
      return;
    }
    if (!firstEnd(this.state.ends, id)) return;
    const record = newRequest(id, timeMs);
    record.outcome = "error";
    record.failure = { ...failure(text, timeMs), requestId: id };
    this.#context.emit(record);
  }
}

const failure = (text: string, timeMs: number): FailureRecord => ({ kind: "failure", timeMs, text });

function newRequest(id: string, timeMs: number): RequestRecord {
  const record = new RequestRecord();
  record.timeMs = timeMs;
  record.id = id;
  return record;
}
