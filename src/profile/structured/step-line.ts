import { Latency, type LatencyKind } from "../../model/latency.ts";
import type { Outcome } from "../../model/record.ts";
import type { ParserContext } from "../profile.ts";
import { DURATION_FIELDS, Field } from "./field.ts";
import type { LineFields } from "./line-fields.ts";
import { LATENCY_OF_FIELD, scoresOf, settleUnits } from "./request-of.ts";
import { Phase, Subject, type Told } from "./vocabulary.ts";

/** The kind of duration that each step's own line measures. */
const STEPS = new Map<number, readonly [kind: LatencyKind, field: Field]>([
  [Subject.retrieval, [Latency.retrieval, Field.retrieval]],
  [Subject.rerank, [Latency.rerank, Field.rerank]],
  [Subject.embedding, [Latency.embedding, Field.embedding]],
  [Subject.tool, [Latency.tool, Field.tool]],
]);

/** True when the line is about a part of a request and not about the request itself. */
export function isStep(fields: LineFields, told: Told, httpStatus: number | undefined): boolean {
  const { subject } = told;
  if (subject < Subject.retrieval || subject > Subject.guardrail) return false;
  if (fields.has(Field.tokensOut) || fields.has(Field.ttft)) return false;
  return !(told.ofRequest && httpStatus !== undefined);
}

/** What a step's line did, for whoever joins it with its request. */
export interface StepSeen {
  /** Bits of the latency kinds that were emitted. */
  steps: number;
  scored: boolean;
}

/** Emits what a line about a step measures. Unfinished steps measure nothing. */
export function emitStep(
  fields: LineFields,
  told: Told,
  about: { timeMs: number; outcome: Outcome },
  context: ParserContext,
): StepSeen {
  const seen: StepSeen = { steps: 0, scored: false };
  const { timeMs, outcome } = about;
  const [ownKind, ownField] = STEPS.get(told.subject) ?? [undefined, undefined];
  settleUnits(fields, context.reject);
  const scores = told.subject === Subject.retrieval && outcome === "ok" ? scoresOf(fields) : undefined;
  const isTool = told.subject === Subject.tool;
  const base = {
    kind: "step" as const,
    timeMs,
    outcome,
    model: fields.text(Field.model),
    tenant: fields.text(Field.tenant),
    collection: fields.text(Field.collection),
    tool: isTool ? fields.text(Field.toolName) : undefined,
  };
  const emit = (step: LatencyKind, durationMs: number, own: boolean): void => {
    seen.steps |= 1 << step;
    if (own && scores !== undefined) {
      seen.scored = true;
      context.emit({ ...base, step, durationMs, scores });
    } else context.emit({ ...base, step, durationMs });
  };
  if (ownKind !== undefined && ownField !== undefined) {
    const durationMs = fields.number(ownField) ?? fields.number(Field.duration) ?? fields.number(Field.e2e);
    // how long a failed search took says nothing of searches; a tool's time-out is its latency
    if (durationMs !== undefined && (outcome === "ok" || isTool)) emit(ownKind, durationMs, true);
    for (let bits = fields.durations; bits !== 0; bits &= bits - 1) {
      const field = 31 - Math.clz32(bits & -bits);
      if (field <= Field.duration || field === ownField || field >= DURATION_FIELDS || outcome !== "ok") continue;
      emit(LATENCY_OF_FIELD[field] as LatencyKind, fields.number(field as Field) ?? Number.NaN, false);
    }
  }
  if (scores !== undefined && !seen.scored) {
    seen.scored = true;
    const { model, tenant } = base;
    for (const value of scores) context.emit({ kind: "score", timeMs, name: "retrieval", value, model, tenant });
  }
  if (isTool && told.phase !== Phase.none) context.emit({ kind: "count", timeMs, name: "tool_calls", by: 1 });
  if (told.subject === Subject.embedding && outcome === "ok") {
    const tokens = fields.number(Field.tokensIn) ?? fields.number(Field.tokensTotal);
    if (tokens !== undefined) context.emit({ kind: "tokens", timeMs, type: "embedding", tokens });
  }
  return seen;
}

/** Fields below this one are the request's own time, whatever the line is about. */
const FIRST_STAGE = Field.ttft;

/**
 * Emits the durations of stages (`retrieval_ms`, `queue_ms`) that stand on a line of their own.
 *
 * @returns Bits of the latency kinds that were emitted.
 */
export function emitStages(fields: LineFields, timeMs: number, context: ParserContext): number {
  if (fields.durations >>> FIRST_STAGE === 0) return 0;
  settleUnits(fields, context.reject);
  const [model, tenant] = [fields.text(Field.model), fields.text(Field.tenant)];
  let steps = 0;
  for (let bits = fields.durations; bits !== 0; bits &= bits - 1) {
    const field = 31 - Math.clz32(bits & -bits);
    if (field < FIRST_STAGE) continue;
    const step = LATENCY_OF_FIELD[field] as LatencyKind;
    steps |= 1 << step;
    context.emit({
      kind: "step",
      timeMs,
      step,
      durationMs: fields.number(field as Field) ?? Number.NaN,
      model,
      tenant,
    });
  }
  return steps;
}
