import { Latencies, type LatencyKind } from "../../../model/latency.ts";
import { RequestRecord } from "../../../model/record.ts";
import { DURATION_FIELDS, Field } from "../field.ts";
import { LATENCY_OF_FIELD } from "../request-of.ts";
import { type Segment, Slot, Use } from "./segment.ts";

const NONE = -1;

/** Free places of the line at hand, by order of their kind; written by the match, read by the plan. */
export interface Places {
  readonly numbers: Float64Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  timeMs: number;
}

export const MAX_PLACES = 64;

/** What is the same in every line of a layout. */
type Constants = Readonly<
  Pick<
    RequestRecord,
    "model" | "tenant" | "service" | "route" | "finishReason" | "httpStatus" | "stream" | "gpu" | "retries"
  >
>;

/** How the free places of one layout make a record: what is the same in all its lines is copied from the learned one. */
export class Plan {
  readonly kinds: readonly LatencyKind[];
  readonly durationAt: Int32Array;
  readonly multiply: Float64Array;
  readonly divide: Float64Array;
  readonly tokensInAt: number;
  readonly tokensCachedAt: number;
  readonly tokensOutAt: number;
  readonly tokensReasoningAt: number;
  readonly costAt: number;
  /** Index of the number that is the time since the epoch; -1 if none is. */
  readonly epochAt: number;
  readonly timed: boolean;
  readonly idAt: number;
  readonly traceAt: number;
  readonly modelAt: number;
  readonly tenantAt: number;
  readonly #learned: Constants;

  constructor(segments: readonly Segment[], learned: RequestRecord) {
    const numbers = segments.filter(({ slot }) => slot === Slot.number || slot === Slot.jsonNumber);
    const texts = segments.filter(({ slot }) => slot === Slot.quoted || slot === Slot.bare);
    const numberAt = (field: number): number => numbers.findIndex((at) => at.use === Use.count && at.field === field);
    const textAt = (field: number): number => texts.findIndex((at) => at.use !== Use.ignored && at.field === field);
    let durations = numbers.filter(({ use, field }) => use === Use.duration && field < DURATION_FIELDS);
    // the line's own end-to-end time goes before a duration that only says how long
    if (durations.some(({ field }) => field === Field.e2e))
      durations = durations.filter(({ field }) => field !== Field.duration);
    durations.sort((a, b) => a.field - b.field);
    this.kinds = durations.map(({ field }) => LATENCY_OF_FIELD[field] as LatencyKind);
    this.durationAt = Int32Array.from(durations, (segment) => numbers.indexOf(segment));
    this.multiply = Float64Array.from(durations, ({ multiply }) => multiply);
    this.divide = Float64Array.from(durations, ({ divide }) => divide);
    this.tokensInAt = numberAt(Field.tokensIn);
    this.tokensCachedAt = numberAt(Field.tokensCached);
    this.tokensOutAt = numberAt(Field.tokensOut);
    this.tokensReasoningAt = numberAt(Field.tokensReasoning);
    this.costAt = numberAt(Field.cost);
    this.epochAt = numbers.findIndex(({ use }) => use === Use.epoch);
    this.timed = segments.some(({ slot }) => slot === Slot.time);
    this.idAt = textAt(Field.requestId);
    this.traceAt = textAt(Field.traceId);
    this.modelAt = textAt(Field.model);
    this.tenantAt = textAt(Field.tenant);
    // a copy: the record itself is its consumer's
    const { model, tenant, service, route, finishReason, httpStatus, stream, gpu, retries } = learned;
    this.#learned = { model, tenant, service, route, finishReason, httpStatus, stream, gpu, retries };
  }

  /** A new record of this layout; what names it (ids, model, tenant, time) is left to the caller. */
  record(places: Places): RequestRecord {
    const { numbers } = places;
    const record = new RequestRecord(new Latencies(this.kinds.slice(), this.#valuesMs(numbers)));
    const learned = this.#learned;
    record.model = learned.model;
    record.tenant = learned.tenant;
    record.service = learned.service;
    record.route = learned.route;
    record.finishReason = learned.finishReason;
    record.httpStatus = learned.httpStatus;
    record.stream = learned.stream;
    record.gpu = learned.gpu;
    record.retries = learned.retries;
    if (this.tokensInAt !== NONE) record.tokensIn = numbers[this.tokensInAt];
    if (this.tokensCachedAt !== NONE) record.tokensInCached = numbers[this.tokensCachedAt];
    if (this.tokensOutAt !== NONE) record.tokensOut = numbers[this.tokensOutAt];
    if (this.tokensReasoningAt !== NONE) record.tokensOutReasoning = numbers[this.tokensReasoningAt];
    if (this.costAt !== NONE) record.costUsd = numbers[this.costAt];
    return record;
  }

  /** Array literals of the right size: most lines have one or two durations, and an array that grows takes room for more. */
  #valuesMs(numbers: Float64Array): number[] {
    const { length } = this.durationAt;
    if (length === 1) return [this.#durationMs(numbers, 0)];
    if (length === 2) return [this.#durationMs(numbers, 0), this.#durationMs(numbers, 1)];
    const valuesMs: number[] = [];
    for (let index = 0; index < length; index++) valuesMs.push(this.#durationMs(numbers, index));
    return valuesMs;
  }

  #durationMs(numbers: Float64Array, index: number): number {
    const number = numbers[this.durationAt[index] as number] as number;
    return (number * (this.multiply[index] as number)) / (this.divide[index] as number);
  }
}
