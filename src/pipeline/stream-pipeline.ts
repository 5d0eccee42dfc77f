import type { ZoneOffset } from "../core/timestamp.ts";
import { causeOf } from "../failure/classify.ts";
import { redact } from "../failure/redact.ts";
import { Framer } from "../frame/framer.ts";
import type { Line } from "../model/line.ts";
import type { FailureRecord, LogRecord, RejectReason } from "../model/record.ts";
import type { StreamInfo } from "../model/stream.ts";
import type { Profile } from "../profile/profile.ts";
import { LineRouter, type RouterState } from "../profile/router.ts";
import type { DuplicateFilter } from "../request/duplicate-filter.ts";
import { checkRecord } from "./record-check.ts";

/** What takes the records of all streams. Called synchronously, in stream order. */
export interface RecordConsumer {
  record(record: LogRecord, profile: Profile, stream: StreamInfo): void;
  reject(reason: RejectReason, stream: StreamInfo): void;
  /** A line no profile knows; the object is valid during the call only. */
  unrecognised?(line: Line, stream: StreamInfo): void;
}

export interface StreamPipelineOptions {
  readonly stream: StreamInfo;
  readonly profiles: readonly Profile[];
  readonly consumer: RecordConsumer;
  /** Shared by all streams: a copy of an entry may stand in another file. */
  readonly duplicates: DuplicateFilter;
  readonly zone: ZoneOffset;
  /** Longest line that is read whole, bytes. */
  readonly maxLineBytes?: number;
}

export const DEFAULT_MAX_LINE_BYTES = 1024 * 1024;

/** Bytes of one stream → lines → records, synchronously: what is pushed has been counted when `push` returns. */
export class StreamPipeline {
  readonly stream: StreamInfo;
  readonly framer: Framer;
  readonly router: LineRouter;
  bytes = 0;
  /** Grows with everything that may have changed the memory of this stream. */
  version = 0;

  constructor(options: StreamPipelineOptions) {
    const { stream, consumer } = options;
    this.stream = stream;
    const reject = (reason: RejectReason): void => consumer.reject(reason, stream);
    this.router = new LineRouter({
      profiles: options.profiles,
      context: { reject, zone: options.zone },
      emit: (record, profile) => {
        this.version++;
        if (record.kind === "request" && record.dedupeKey !== undefined) {
          const { timeMs, dedupeKey } = record;
          if (options.duplicates.seen(`${profile.name} ${dedupeKey}`)) {
            consumer.record({ kind: "count", timeMs, name: "duplicates_dropped", by: 1 }, profile, stream);
            return;
          }
        }
        if (record.kind === "request" && record.failure !== undefined) {
          const failure = record.failure;
          record.failure = undefined;
          if (checkRecord(record, reject)) consumer.record(record, profile, stream);
          consumer.record(withCause(failure), profile, stream);
        } else if (record.kind === "failure") consumer.record(withCause(record), profile, stream);
        else if (checkRecord(record, reject)) consumer.record(record, profile, stream);
      },
      ...(consumer.unrecognised === undefined
        ? {}
        : { onUnrecognised: (line: Line) => consumer.unrecognised?.(line, stream) }),
    });
    this.framer = new Framer({
      maxLineBytes: options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
      zone: options.zone,
      onLine: (line) => {
        this.version++;
        this.router.route(line);
      },
    });
  }

  push(bytes: Buffer, offset: number, readMs: number): void {
    this.bytes += bytes.length;
    this.version++;
    this.framer.push(bytes, offset, readMs);
  }

  /** The line pushed last will get no newline any more. */
  endLine(): void {
    this.version++;
    this.framer.endLine();
  }

  /** Tells how the stream begins, when reading starts behind its head. */
  beginsWith(head: Buffer): void {
    this.framer.beginsWith(head);
  }

  /** Offset from which the bytes pushed last must be read again after a crash; undefined when nothing is held. */
  get heldOffset(): number | undefined {
    return this.framer.heldOffset;
  }

  flush(nowMs: number): void {
    this.framer.flush(nowMs);
    this.router.flush(nowMs, false);
  }

  /** Open partial lines, parser memory and counts, for a structured clone into a commit. */
  get state(): unknown {
    const { framer, router, bytes } = this;
    return { bytes, framer: framer.state, router: router.state, unrecognised: router.unrecognised };
  }

  restore(state: unknown): void {
    const saved = state as { bytes: number; framer: Framer["state"]; router: RouterState; unrecognised: number };
    this.bytes = saved.bytes;
    this.framer.state = saved.framer;
    this.router.restore(saved.router);
    this.router.unrecognised = saved.unrecognised;
  }

  /** The stream is over: everything held is delivered. */
  end(nowMs: number): void {
    this.framer.end();
    this.router.flush(nowMs, true);
  }
}

/** The cause is read off the whole text; what is kept and shown of it has secrets and prompts masked. */
function withCause(record: FailureRecord): FailureRecord {
  return { ...record, cause: record.cause ?? causeOf(record), text: redact(record.text) };
}
