import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";

/** One line of Ollama's own logger. */
export interface SlogLine {
  readonly timeMs: number;
  /** Minutes that the printed time is ahead of UTC; NaN when the line states no zone. */
  readonly offsetMin: number;
  readonly level: string;
  /** Source file without its line number, e.g. `sched.go`. */
  readonly file: string;
  readonly message: string;
  /** The `error` (or `err`) attribute. */
  readonly error: string | undefined;
}

const HEAD = /^time=(\S{19,40}) level=([A-Z]{4,5}(?:[+-]\d{1,2})?) source=([A-Za-z0-9_.-]{1,80}\.go):\d{1,6} msg=/;
const MAX_CHARS = 16 * 1024;
const MAX_ATTRIBUTES = 32;

/** True for `time=… level=… source=file.go:1 msg=…`: Ollama shortens the path to the file's name, most Go programs do not. */
export const isSlogLine = (text: string): boolean => text.startsWith("time=") && HEAD.test(text);

/**
 * Go files whose name in `source=` shows that Ollama wrote the line: Prometheus prints the same form from other files.
 */
const FILES = new Set([
  "routes.go",
  "server.go",
  "sched.go",
  "llama_server.go",
  "runner.go",
  "images.go",
  "types.go",
  "gpu.go",
  "gpu_linux.go",
  "gpu_windows.go",
  "amd_linux.go",
  "amd_windows.go",
  "amd_common.go",
  "cuda_common.go",
  "cpu_common.go",
  "memory.go",
  "payload.go",
  "payload_common.go",
  "ggml.go",
  "device.go",
  "download.go",
  "upload.go",
  "manifest.go",
  "layer.go",
  "create.go",
  "prompt.go",
  "dyn_ext_server.go",
  "ext_server.go",
  "process_text.go",
  "harmonyparser.go",
  "envconfig.go",
  "cache.go",
  "causal.go",
  "vocabulary.go",
  "quantization.go",
  "fixblobs.go",
]);

export function isOllamaSlog(text: string): boolean {
  if (!text.startsWith("time=")) return false;
  // `time=… level=… source=…`: Go's text handler writes in this order, most others put no source there
  const level = text.indexOf(" level=", 20);
  if (level < 0 || level > 50 || !text.startsWith("source=", text.indexOf(" ", level + 7) + 1)) return false;
  const head = HEAD.exec(text);
  return head !== null && FILES.has(head[3] ?? "");
}

/**
 * Reads a line for which {@link isSlogLine} is true.
 *
 * @see ollama/ollama logutil/logutil.go, Go log/slog `TextHandler`
 */
export function readSlog(text: string, zone: ZoneOffset): SlogLine | undefined {
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  const [whole, time = "", level = "", file = ""] = head;
  const { timeMs } = parseIso(time, 0, zone);
  const limit = Math.min(text.length, MAX_CHARS);
  let end = valueEnd(text, whole.length, limit);
  const message = valueOf(text.slice(whole.length, end));
  let error: string | undefined;
  for (let count = 0; count < MAX_ATTRIBUTES && end < limit && error === undefined; count++) {
    const equals = text.indexOf("=", end + 1);
    if (equals < 0 || equals >= limit) break;
    const key = text.slice(end + 1, equals);
    end = valueEnd(text, equals + 1, limit);
    if (key === "error" || key === "err") error = valueOf(text.slice(equals + 1, end));
  }
  return { timeMs, offsetMin: offsetOf(time), level, file, message, error };
}

function valueEnd(text: string, from: number, limit: number): number {
  if (text.charCodeAt(from) !== 34) {
    const blank = text.indexOf(" ", from);
    return blank < 0 || blank > limit ? limit : blank;
  }
  for (let at = from + 1; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === 92) at++;
    else if (code === 34) return at + 1;
  }
  return limit;
}

/** The text of a value that Go quoted; escapes that JSON does not know are left as they are. */
function valueOf(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.replace(/^"|"$/g, "");
  }
}

const OFFSET = /([+-])(\d\d):?(\d\d)$/;

function offsetOf(time: string): number {
  if (time.endsWith("Z")) return 0;
  const found = OFFSET.exec(time);
  if (found === null) return Number.NaN;
  return (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3]));
}
