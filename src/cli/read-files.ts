import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { FileReport } from "../analysis/report.ts";
import { localZone } from "../core/timestamp.ts";
import { reasonOf } from "../core/told.ts";
import type { StreamInfo } from "../model/stream.ts";
import { type RecordConsumer, StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { Profile } from "../profile/profile.ts";
import type { DuplicateFilter } from "../request/duplicate-filter.ts";
import type { Io } from "./io.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Reads longer than this show their progress on a terminal. */
const PROGRESS_AFTER_BYTES = 64 * 1024 * 1024;

export interface ReadOptions {
  readonly profiles: readonly Profile[];
  readonly consumer: RecordConsumer;
  readonly duplicates: DuplicateFilter;
  readonly io: Io;
  readonly stdin: () => Readable;
  /** What the configuration says about a file; without it: no labels, any profile. */
  readonly streamOf?: (path: string) => StreamInfo;
}

export interface ReadResult {
  readonly files: FileReport[];
  /** Files that could not be read, or held nothing to read; each was told on standard error. */
  readonly faults: number;
}

/**
 * Reads whole files one after another: plain or gzip, `-` for standard input. A file that cannot be read is told in one
 * line, and the others are still read.
 */
export async function readFiles(paths: readonly string[], options: ReadOptions): Promise<ReadResult> {
  const files: FileReport[] = [];
  let faults = 0;
  for (const path of paths) {
    const opened = await openInput(path, options).catch((error: unknown) => reasonOf(error));
    if (typeof opened === "string") {
      faults++;
      options.io.err(`tokentail: cannot read "${path}": ${opened}\n`);
      continue;
    }
    const { report, fault } = await readOne(path, opened, options);
    if (report !== undefined) files.push(report);
    if (fault !== undefined) {
      faults++;
      options.io.err(`tokentail: ${fault}\n`);
    }
  }
  return { files, faults };
}

interface Input {
  /** A chunk is valid until the next one is asked for. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Time to complete dates with: the file's modification, or now. */
  readonly readMs: number;
  /** Bytes on disk; NaN for standard input. */
  readonly sizeBytes: number;
  /** Bytes read from disk so far. */
  readonly progress: () => number;
}

/** @returns The input, or why there is none. */
async function openInput(path: string, options: ReadOptions): Promise<Input | string> {
  if (path === "-") return { chunks: options.stdin(), readMs: Date.now(), sizeBytes: Number.NaN, progress: () => 0 };
  const handle = await open(path, "r");
  let magic: Buffer;
  let stats: Awaited<ReturnType<typeof handle.stat>>;
  try {
    stats = await handle.stat();
    if (stats.isDirectory()) return `is a directory; name its files, e.g. "${path.replace(/\/$/, "")}/*.log"`;
    magic = Buffer.alloc(4096);
    if (!stats.isFile()) return "is no regular file; pipe it into `tokentail analyze -`";
    const { bytesRead } = await handle.read(magic, 0, magic.length, 0);
    magic = magic.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
  if (stats.size === 0) return "is empty";
  const packed = PACKED.find(({ bytes }) => magic.subarray(0, bytes.length).equals(bytes));
  if (packed !== undefined)
    return `is ${packed.name}-compressed; unpack it, or pipe it: ${packed.command} "${path}" | tokentail analyze -`;
  const gzip = magic[0] === 0x1f && magic[1] === 0x8b;
  if (!gzip && looksBinary(magic)) return "is no text: more than a tenth of its first bytes are control characters";
  const about = { readMs: stats.mtimeMs, sizeBytes: stats.size };
  if (!gzip) {
    let bytesRead = 0;
    const chunks = readChunks(path, (bytes) => {
      bytesRead += bytes;
    });
    return { chunks, ...about, progress: () => bytesRead };
  }
  const raw = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const chunks = raw.pipe(createGunzip({ chunkSize: CHUNK_BYTES })).on("close", () => raw.destroy());
  return { chunks, ...about, progress: () => raw.bytesRead };
}

/** Two buffers in turns, one being filled while the other is read: fresh ones would cost more than what is done with them. */
async function* readChunks(path: string, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  try {
    let filled = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    let spare = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    let { bytesRead } = await handle.read(filled, 0, CHUNK_BYTES, null);
    while (bytesRead > 0) {
      const next = handle.read(spare, 0, CHUNK_BYTES, null);
      // told below, and not as unhandled while the chunk is read
      next.catch(() => {});
      onRead(bytesRead);
      yield bytesRead === CHUNK_BYTES ? filled : filled.subarray(0, bytesRead);
      [filled, spare] = [spare, filled];
      ({ bytesRead } = await next);
    }
  } finally {
    await handle.close();
  }
}

const PACKED = [
  { name: "zstd", bytes: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), command: "zstdcat" },
  { name: "xz", bytes: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a]), command: "xzcat" },
  { name: "bzip2", bytes: Buffer.from("BZh"), command: "bzcat" },
  { name: "zip", bytes: Buffer.from("PK\u0003\u0004"), command: "unzip -p" },
] as const;

/** True for bytes that no log holds: neither text, nor UTF-16, nor a hole of NULs in front of text. */
function looksBinary(bytes: Buffer): boolean {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return false;
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start++;
  if (start === bytes.length) return false;
  let control = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 27) control++;
  }
  return control > (bytes.length - start) / 10;
}

async function readOne(
  path: string,
  input: Input,
  options: ReadOptions,
): Promise<{ report?: FileReport; fault?: string }> {
  const stream = options.streamOf?.(path) ?? { name: path, labels: {}, profile: "auto" };
  const { consumer, duplicates, io } = options;
  const profiles =
    stream.profile === "auto" ? options.profiles : options.profiles.filter(({ name }) => name === stream.profile);
  const pipeline = new StreamPipeline({ stream, profiles, consumer, duplicates, zone: localZone });
  let offset = 0;
  let fault: string | undefined;
  const bar = io.errTty && input.sizeBytes > PROGRESS_AFTER_BYTES;
  let shown = 0;
  try {
    for await (const chunk of input.chunks) {
      pipeline.push(chunk, offset, input.readMs);
      offset += chunk.length;
      if (bar && Math.floor((input.progress() / input.sizeBytes) * 100) > shown) {
        shown = Math.floor((input.progress() / input.sizeBytes) * 100);
        io.err(`\r${path}: ${shown} %`);
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const told =
      (error as NodeJS.ErrnoException).code?.startsWith("Z_") === true
        ? "the gzip data is damaged or cut short"
        : reasonOf(error);
    fault = `cannot read all of "${path}": ${told}; ${offset.toLocaleString("en")} bytes were read`;
  }
  if (bar) io.err("\r\u001b[K");
  pipeline.end(input.readMs);
  if (offset === 0 && fault === undefined) return { fault: `cannot read "${path}": is empty` };
  const counts = [...pipeline.router.counts()];
  const report = {
    path,
    frame: pipeline.framer.frame,
    lines: pipeline.framer.splitter.lines,
    bytes: pipeline.bytes,
    records: counts.reduce((sum, { records }) => sum + records, 0),
    unrecognised: pipeline.router.unrecognised,
    profiles: Object.fromEntries(counts.map(({ profile, lines }) => [profile.name, lines])),
  };
  return fault === undefined ? { report } : { report, fault };
}
