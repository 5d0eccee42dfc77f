import type { Asked } from "../../asked-line.ts";
import { Field } from "../field.ts";
import { isAbsent } from "../figure.ts";
import { type KeyNode, Take } from "../key-tree.ts";
import { type Segment, Slot, Use, type Value } from "./segment.ts";

/** Fields whose value the general reader copies and never judges. */
const COUNTS: ReadonlySet<number> = new Set([
  Field.tokensIn,
  Field.tokensCached,
  Field.tokensOut,
  Field.tokensReasoning,
  Field.cost,
]);
/** Fields that are there or not, whatever they say. */
const UNREAD: ReadonlySet<number> = new Set([Field.tokensTotal, Field.pid, Field.target]);
/** Durations and counts apart, the fields that may be free. All others decide something and stay literal. */
const FREE: Readonly<Record<number, number>> = {
  [Field.time]: Use.time,
  [Field.requestId]: Use.id,
  [Field.traceId]: Use.traceId,
  [Field.model]: Use.label,
  [Field.tenant]: Use.label,
};

const PLAIN_NUMBER = /^\d{1,15}$|^(?=[\d.]{3,16}$)\d+\.\d+$/;
const JSON_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
const TIME_SHAPE = /^[\d:./,TZ +-]{8,40}$/;
const WORDS = new Set(["true", "false", "null"]);
const BARE = /^[\w.:/@+-]+$/;

export interface LearnFrom {
  /** The line, one character a byte. */
  readonly text: string;
  readonly values: readonly Value[];
  /** What other profiles looked at before they let the line pass: values of these keys must not change, digits apart. */
  readonly asked: Asked;
  readonly json: boolean;
  readonly node: (path: readonly string[]) => KeyNode | undefined;
}

/**
 * Cuts a line into what every line of its layout shares and the places that are free.
 *
 * A place is free only when no decision hangs on what stands there: figures that are copied, times, ids, names of models
 * and tenants, and values nobody reads. Everything else, levels, messages, statuses, routes, is part of the literal: lines
 * that differ in it have layouts of their own.
 *
 * @returns Undefined when the line has a figure whose reading depends on more than its own digits.
 */
export function segmentsOf(from: LearnFrom): readonly Segment[] | undefined {
  const { text, values } = from;
  const nodes = values.map((value) => from.node(value.path));
  const owners = new Map<number, number>();
  for (const [index, node] of nodes.entries()) {
    if (node === undefined || node.take === Take.nothing || isNothing(text, values[index] as Value)) continue;
    owners.set(node.field, (owners.get(node.field) ?? 0) + 1);
  }
  const segments: Segment[] = [];
  let literalAt = 0;
  for (const [index, value] of values.entries()) {
    const node = nodes[index];
    const place = placeOf(from, value, node);
    if (place === "refused") return undefined;
    if (place === undefined) continue;
    const field = node === undefined || node.take === Take.nothing ? -1 : (node.field as Field);
    // of two names for one field one is passed over: too fine a matter for a layout
    if (field >= 0 && (owners.get(field) ?? 0) > 1) return undefined;
    segments.push({
      literal: Buffer.from(text.slice(literalAt, value.start), "latin1"),
      ...place,
      field,
      multiply: place.use === Use.duration ? (node?.multiply ?? 0) : 1,
      divide: place.use === Use.duration ? (node?.divide ?? 1) : 1,
      sample: Buffer.from(text.slice(value.start, value.end), "latin1"),
    });
    literalAt = value.end;
  }
  segments.push({
    literal: Buffer.from(text.slice(literalAt), "latin1"),
    slot: Slot.end,
    use: Use.ignored,
    field: -1,
    multiply: 1,
    divide: 1,
    sample: new Uint8Array(),
  });
  return segments;
}

function isNothing(text: string, value: Value): boolean {
  const word = text.slice(value.start, value.end);
  return value.kind === "word" ? word === "null" : value.kind === "string" && isAbsent(word);
}

interface Place {
  readonly slot: number;
  readonly use: number;
}

function placeOf(from: LearnFrom, value: Value, node: KeyNode | undefined): Place | "refused" | undefined {
  const { text, json, asked } = from;
  const { kind, quoted, plain } = value;
  const word = text.slice(value.start, value.end);
  if (kind === "object" || kind === "array") return undefined;
  // `NaN` and `Infinity` are refused and counted
  if (kind === "word") return WORDS.has(word) ? undefined : "refused";
  if (kind === "string" && isAbsent(word)) return undefined;
  const bareNumber = json && kind === "number";
  const number = PLAIN_NUMBER.test(word) && (!bareNumber || JSON_NUMBER.test(word));
  const numberSlot = bareNumber ? Slot.jsonNumber : Slot.number;
  const looked = asked.keys.has(value.path[0] ?? "");
  const textSlot = quoted ? Slot.quoted : Slot.bare;
  const free = plain && kind === "string" && word !== "" && (quoted || BARE.test(word));
  if (node === undefined || node.take === Take.nothing) {
    // numbers nobody reads; texts only where it is known that nobody looked
    if (number) return { slot: numberSlot, use: Use.ignored };
    return json && free && !asked.text && !looked ? { slot: textSlot, use: Use.ignored } : undefined;
  }
  const field = node.field as Field;
  if (node.take === Take.duration) {
    return number && node.multiply > 0 ? { slot: numberSlot, use: Use.duration } : "refused";
  }
  if (COUNTS.has(field)) return number ? { slot: numberSlot, use: Use.count } : "refused";
  if (UNREAD.has(field)) return number ? { slot: numberSlot, use: Use.ignored } : undefined;
  const use = FREE[field];
  if (use === undefined) return undefined;
  if (use === Use.time) {
    if (number) return { slot: numberSlot, use: Use.epoch };
    return plain && kind === "string" && TIME_SHAPE.test(word) ? { slot: Slot.time, use } : "refused";
  }
  if (free && !looked) return { slot: textSlot, use };
  // an id that must not change is of one line
  return use === Use.label ? undefined : "refused";
}
