import { Field } from "./field.ts";
import type { LineFields } from "./line-fields.ts";
import { severity } from "./logger.ts";
import { httpStatusOf } from "./verdict.ts";
import { Phase, Subject, type Told, type Vocabulary } from "./vocabulary.ts";

/** What is known of the line at hand besides its fields. */
export interface Seen {
  /** Event time, milliseconds since the epoch; NaN when neither line nor wrapper tells. */
  readonly timeMs: number;
  readonly readMs: number;
  readonly isText: boolean;
  readonly told: Told;
  /** The words stand under a key for event names, as one word: they are the writer's verdict, not prose. */
  readonly isEvent: boolean;
  readonly message: string | undefined;
  readonly severity: number;
  readonly httpStatus: number | undefined;
  /** What joins the line with others of its request. */
  readonly id: string | undefined;
  /** The id may be shared by several requests: a trace, a conversation. */
  readonly loose: boolean;
}

const MAX_ID_CHARS = 200;

/** Alias rank up to which a key is one for event names (`event`, `action`), not a hint such as `operation` or `type`. */
const EVENT_RANK = 3;

/** Judges the words of a line: of its event name, and of its message where the event says too little. */
export function look(
  fields: LineFields,
  vocabulary: Vocabulary,
  from: { readonly timeMs: number; readonly readMs: number; readonly isText: boolean },
): Seen {
  const event = fields.text(Field.event);
  const message = fields.text(Field.message);
  let told = vocabulary.tell(event);
  let isEvent = event !== undefined && fields.rank(Field.event) % 10 <= EVENT_RANK && !event.includes(" ");
  if (told.subject === Subject.none || told.phase === Phase.none) {
    const other = vocabulary.tell(message);
    if (told.subject === Subject.none && told.phase === Phase.none) {
      told = other;
      isEvent &&= message === undefined;
    } else if (told.phase === Phase.none && other.phase !== Phase.none) {
      told = { ...told, phase: other.phase };
      isEvent = false;
    }
  }
  let id = fields.text(Field.requestId);
  let loose = fields.rank(Field.requestId) % 10 !== 0;
  if (id === undefined && isEvent) {
    id = fields.text(Field.traceId);
    loose = true;
  }
  if (id !== undefined && id.length > MAX_ID_CHARS) id = id.slice(0, MAX_ID_CHARS);
  return {
    timeMs: from.timeMs,
    readMs: from.readMs,
    isText: from.isText,
    told,
    isEvent,
    message: message ?? event,
    severity: severity(fields),
    httpStatus: httpStatusOf(fields),
    id,
    loose,
  };
}

/** True when the message names no reason: `request failed`, `llm.failed`. */
export function isBare(seen: Seen, fields: LineFields, vocabulary: Vocabulary): boolean {
  const message = fields.text(Field.message);
  return message === undefined ? seen.told.bare || seen.isEvent : vocabulary.tell(message).bare;
}
