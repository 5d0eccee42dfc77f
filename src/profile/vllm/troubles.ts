import type { FailureRecord } from "../../model/record.ts";
import { ignoreRecord, openRecord } from "./open-records.ts";
import type { VllmLine } from "./prefix.ts";
import { firstEnd } from "./request-ends.ts";
import { rustRequestId } from "./rust.ts";
import { newFailure, newRequest, type Reading } from "./state.ts";

const ENGINE_DIED =
  /^(?:EngineCore encountered|AsyncLLM output_handler failed|Engine background task failed|received ENGINE_CORE_DEAD)/;
const TOO_LONG = /^Input prompt \(\d+ tokens\) is too long and exceeds /;
const PREEMPTED = /\btotal_num_cumulative_preemption=(\d+)\s*$/;

/** The first line of a record of level ERROR or above. */
export function readError(line: VllmLine, reading: Reading): void {
  const { message, process, file } = line;
  if (reading.engine === "rust" && message.startsWith("request failed")) {
    failRequest(message, "internal_error", reading);
    return;
  }
  // what is dumped beside a fatal error belongs to it
  if (file === "dump_input.py" || message.startsWith("Dumping ")) {
    ignoreRecord(reading.state.records, process);
    return;
  }
  if (ENGINE_DIED.test(message)) reading.state.engineDied = true;
  // `Error with model error=ErrorInfo(…, type='NotFoundError', …)`: the record names its kind
  const notFound = message.startsWith("Error with model ") && message.includes(" type='NotFoundError'");
  openTrouble(process, message, reading, notFound ? { cause: "model_not_found", errorClass: "NotFoundError" } : {});
}

export function readWarning({ message, process }: VllmLine, reading: Reading): void {
  if (message.startsWith("Sequence group ")) preempted(message, process, reading);
  else if (TOO_LONG.test(message)) reading.emit(newFailure(reading, message, { cause: "context_length_exceeded" }));
  else if (reading.engine !== "rust") return;
  else if (message.startsWith("request stream closed unexpectedly"))
    failRequest(message, "stream_interrupted", reading);
  else if (message.startsWith("received ENGINE_CORE_DEAD")) {
    reading.state.engineDied = true;
    reading.emit(newFailure(reading, message, { cause: "engine_dead" }));
  }
}

/** Opens a failure that the process's following lines may go on with. */
export function openTrouble(process: string, text: string, reading: Reading, more: Partial<FailureRecord> = {}): void {
  const gpu = /^(?:Vllm)?Worker[_ ](?:\w*_)?(?:TP|rank=)(\d+)/.exec(process)?.[1];
  openRecord(reading.state.records, process, newFailure(reading, text, { gpu, ...more }), reading.emit);
}

/** V0 warns once per 50 preemptions: the total it prints is what counts, not its lines. */
function preempted(message: string, process: string, reading: Reading): void {
  const found = PREEMPTED.exec(message)?.[1];
  if (found === undefined) return;
  const { preemptions } = reading.state;
  const total = Number(found);
  const known = preemptions.get(process) ?? 0;
  preemptions.set(process, total);
  // a smaller figure is a restarted engine: it counts from zero
  const by = total >= known ? total - known : total;
  reading.emit({ kind: "count", timeMs: reading.timeMs, name: "preemptions", by });
}

function failRequest(message: string, cause: string, reading: Reading): void {
  const id = rustRequestId(message);
  if (id !== undefined && !firstEnd(reading.state.ends, id)) return;
  const record = newRequest(reading, id);
  record.outcome = "error";
  record.failure = newFailure(reading, message, { cause, requestId: id });
  reading.emit(record);
}
