import type { ZoneOffset } from "../../../core/timestamp.ts";
import type { Line } from "../../../model/line.ts";
import type { RequestRecord } from "../../../model/record.ts";
import type { Asked } from "../../asked-line.ts";
import { isAbsent } from "../figure.ts";
import type { KeyNode } from "../key-tree.ts";
import { epochMs } from "../logger.ts";
import { found, passText, readNumber, readTime } from "./byte-slots.ts";
import { findJsonValues, findPairValues, MAX_LAYOUT_BYTES } from "./find-values.ts";
import { addLayout, type LayoutNode } from "./layout-tree.ts";
import { Names } from "./names.ts";
import { MAX_PLACES, type Places, Plan } from "./plan.ts";
import { Slot } from "./segment.ts";
import { segmentsOf } from "./segments-of.ts";

/** Layouts learned before all are forgotten and learned anew. */
const MAX_LAYOUTS = 256;
/** Lines that may be learned from at once, and how many lines earn one more. */
const MAX_CREDIT = 256;
const LINES_PER_CREDIT = 256;
const MAX_ID_CHARS = 200;
/** Programs of one stream whose layouts are kept apart. */
const MAX_ORIGINS = 16;

/**
 * Lines of one program statement differ in their figures alone. From a line that the general reader has judged in full,
 * this learns where they stand, and then reads lines of the same layout from their bytes: no text, no JSON, no verdict.
 * A line that departs from all layouts in anything is not read here.
 *
 * It is a cache, no memory: with it or without it, every line gives the same record.
 */
export class LineLayouts {
  readonly #zone: ZoneOffset;
  readonly #names = new Names();
  readonly #places: Places = {
    numbers: new Float64Array(MAX_PLACES + 1),
    starts: new Int32Array(MAX_PLACES + 1),
    ends: new Int32Array(MAX_PLACES + 1),
    timeMs: Number.NaN,
  };
  #roots: LayoutNode[] = [];
  #layouts = 0;
  #credit = MAX_CREDIT;
  #lines = 0;
  /** Which program a wrapper named last, and the layouts of each: other profiles may go by the name. */
  #origin: string | undefined = undefined;
  readonly #trees = new Map<string | undefined, LayoutNode[]>();
  #bytes: Buffer | undefined = undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));

  constructor(zone: ZoneOffset) {
    this.#zone = zone;
  }

  /** True while a line may be learned from: in a stream without layouts the attempts grow rare. */
  get learns(): boolean {
    if (++this.#lines >= LINES_PER_CREDIT) {
      this.#lines = 0;
      if (this.#credit < MAX_CREDIT) this.#credit++;
    }
    return this.#credit > 0;
  }

  /** The record of a line that has a known layout; undefined for all others. */
  read(line: Line): RequestRecord | undefined {
    const { start, end, bytes } = line;
    if (this.#layouts === 0 || !isWhole(line)) return undefined;
    if (line.origin !== this.#origin) this.#switch(line.origin);
    let nodes = this.#roots;
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    const view = this.#view;
    const places = this.#places;
    let at = start;
    let numbers = 0;
    let texts = 0;
    for (;;) {
      let node: LayoutNode | undefined;
      let after = -1;
      for (let index = 0; index < nodes.length; index++) {
        const tried = nodes[index] as LayoutNode;
        after = tried.pass(view, at, end);
        if (after < 0) continue;
        const { slot } = tried;
        if (slot === Slot.end) {
          if (after !== end) after = -1;
        } else if (slot === Slot.time) after = readTime(bytes, after, end, tried.shape, this.#zone);
        else if (slot === Slot.quoted || slot === Slot.bare) {
          places.starts[texts] = after;
          after = passText(bytes, after, end, slot === Slot.quoted);
          places.ends[texts] = after;
        } else after = readNumber(bytes, after, end, slot === Slot.jsonNumber);
        if (after < 0) continue;
        node = tried;
        if (index > 0) {
          nodes.copyWithin(1, 0, index);
          nodes[0] = tried;
        }
        break;
      }
      if (node === undefined) return undefined;
      const { slot } = node;
      if (slot === Slot.end) return node.plan === undefined ? undefined : this.#fill(node.plan, line);
      if (slot === Slot.time) places.timeMs = found.timeMs;
      else if (slot === Slot.quoted || slot === Slot.bare) texts++;
      else places.numbers[numbers++] = found.number;
      at = after;
      nodes = node.followers;
    }
  }

  /**
   * Learns the layout of a line.
   *
   * @param record What the general reader made of it, as it went on to the consumer.
   * @param asked What other profiles looked at before they let it pass.
   * @param node Meaning of a key.
   */
  learn(line: Line, record: RequestRecord, asked: Asked, node: (path: readonly string[]) => KeyNode | undefined): void {
    this.#credit--;
    if (!isWhole(line)) return;
    const json = line.json !== undefined;
    const text = line.bytes.toString("latin1", line.start, line.end);
    const values = json ? findJsonValues(text) : findPairValues(text);
    const segments = values && segmentsOf({ text, values, asked, json, node });
    if (segments === undefined || segments.length < 2) return;
    if (this.#layouts >= MAX_LAYOUTS || this.#trees.size > MAX_ORIGINS) this.#forget();
    this.#switch(line.origin);
    if (this.#roots.length === 0) this.#trees.set(line.origin, this.#roots);
    if (!addLayout(this.#roots, segments, new Plan(segments, record))) return;
    this.#layouts++;
    // one mistake here would be made for every line to come: what was learned must say what was told
    if (!sameRecord(this.read(line), record)) this.#forget();
  }

  #switch(origin: string | undefined): void {
    this.#origin = origin;
    this.#roots = this.#trees.get(origin) ?? [];
  }

  #forget(): void {
    this.#trees.clear();
    this.#roots = [];
    this.#layouts = 0;
  }

  /** Names and times of the line's record. */
  #fill(plan: Plan, line: Line): RequestRecord | undefined {
    const places = this.#places;
    const { starts, ends, numbers } = places;
    const { bytes } = line;
    const record = plan.record(places);
    if (plan.modelAt >= 0) {
      record.model = this.#names.of(bytes, this.#view, starts[plan.modelAt] as number, ends[plan.modelAt] as number);
      if (record.model === undefined) return undefined;
    }
    if (plan.tenantAt >= 0) {
      record.tenant = this.#names.of(bytes, this.#view, starts[plan.tenantAt] as number, ends[plan.tenantAt] as number);
      if (record.tenant === undefined) return undefined;
    }
    if (plan.idAt >= 0) {
      record.id = idOf(bytes, starts[plan.idAt] as number, ends[plan.idAt] as number);
      if (record.id === undefined) return undefined;
    }
    if (plan.traceAt >= 0) {
      record.traceId = idOf(bytes, starts[plan.traceAt] as number, ends[plan.traceAt] as number);
      // the last part of a resource name
      if (record.traceId?.includes("/") !== false) return undefined;
    }
    const own = plan.epochAt >= 0 ? epochMs(numbers[plan.epochAt] as number) : plan.timed ? places.timeMs : Number.NaN;
    record.timeMs = own === own ? own : line.timeMs;
    return record;
  }
}

/** What `toString("latin1")` calls in the end, without the looking up of the encoding. */
const asciiOf = (bytes: Buffer, start: number, end: number): string =>
  (bytes as Buffer & { latin1Slice(start: number, end: number): string }).latin1Slice(start, end);

/** Undefined for what the general reader would pass over or cut. */
function idOf(bytes: Buffer, start: number, end: number): string | undefined {
  if (end === start || end - start > MAX_ID_CHARS) return undefined;
  const text = asciiOf(bytes, start, end);
  return isAbsent(text) ? undefined : text;
}

/** True for a line in bytes that neither the framer nor the size limit has touched. */
function isWhole(line: Line): boolean {
  const length = line.end - line.start;
  return length > 0 && length <= MAX_LAYOUT_BYTES && !line.cut && !line.endsInReturn;
}

function sameRecord(a: RequestRecord | undefined, b: RequestRecord): boolean {
  if (a === undefined) return false;
  for (const key of Object.keys(b) as Array<keyof RequestRecord>) {
    if (key !== "latencies" && !Object.is(a[key], b[key])) return false;
  }
  const [mine, theirs] = [a.latencies, b.latencies];
  return (
    mine.kinds.length === theirs.kinds.length &&
    mine.kinds.every((kind, at) => kind === theirs.kinds[at]) &&
    mine.valuesMs.every((ms, at) => Object.is(ms, theirs.valuesMs[at]))
  );
}
