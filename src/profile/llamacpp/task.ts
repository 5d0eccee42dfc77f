import { putBounded } from "../../core/bounded-map.ts";

/** How a task ended; empty while it runs or when the log has not told. */
type Fate = "" | "finished" | "failed" | "aborted";

export interface Task {
  readonly slot: string;
  /** Its launch was seen: a second end without a second launch is no line of the server. */
  readonly launched: boolean;
  fate: Fate;
  cancelled: boolean;
  /** Its slot is free again. */
  released: boolean;
  /** The prompt had no token: the block that follows repeats the figures of the task before. */
  empty: boolean;
  promptTokens: number | undefined;
  cachedTokens: number | undefined;
  prefillMs: number | undefined;
  prefillTokens: number | undefined;
  decodeMs: number | undefined;
  decodeTokens: number | undefined;
}

/** What identifies a line's task: children of a router count their tasks apart. */
export const taskKey = (port: string, task: string): string => `${port}/${task}`;

export const portOf = (key: string): string => key.slice(0, key.indexOf("/"));
/** The request's id: the task, with the port in router mode. */
export const idOf = (key: string): string => (key.startsWith("/") ? key.slice(1) : key);
export const slotKey = (key: string, task: Task): string => `${portOf(key)}/${task.slot}`;

export function newTask(slot: string, launched: boolean): Task {
  return {
    slot,
    launched,
    fate: "",
    cancelled: false,
    released: false,
    empty: false,
    promptTokens: undefined,
    cachedTokens: undefined,
    prefillMs: undefined,
    prefillTokens: undefined,
    decodeMs: undefined,
    decodeTokens: undefined,
  };
}

/** Last block of each slot. */
export type Blocks = Map<string, Block>;

interface Block {
  readonly prefillMs: number | undefined;
  readonly prefillTokens: number | undefined;
  readonly decodeMs: number;
}

const MAX_SLOTS = 256;
/** No hardware needs a minute for one token; the machine's uptime divided by a few tokens does. */
const MAX_MS_PER_TOKEN = 60_000;

/**
 * True for a block without work of its own: after a prompt of zero tokens (February 2025) it shows the counts of the task
 * before, and as time of generation the time since the machine was started. Other blocks are noted in `blocks`.
 */
export function isStale(blocks: Blocks, slot: string, task: Task): boolean {
  const { prefillMs, prefillTokens, decodeMs, decodeTokens } = task;
  if (task.empty || perToken(decodeMs, decodeTokens) > MAX_MS_PER_TOKEN) return true;
  if (perToken(prefillMs, prefillTokens) > MAX_MS_PER_TOKEN) return true;
  if (decodeMs === undefined) return false;
  const before = blocks.get(slot);
  if (
    before !== undefined &&
    decodeMs > MAX_MS_PER_TOKEN &&
    decodeMs > 100 * before.decodeMs &&
    before.prefillMs === prefillMs &&
    before.prefillTokens === prefillTokens
  )
    return true;
  putBounded(blocks, slot, { prefillMs, prefillTokens, decodeMs }, MAX_SLOTS);
  return false;
}

const perToken = (ms: number | undefined, tokens: number | undefined): number => (ms ?? 0) / Math.max(1, tokens ?? 1);

/** `0.00 ms` for no token is no work, for several tokens no measurement; for one it is what rounding leaves of it. */
export function measured(ms: number | undefined, tokens: number | undefined): number | undefined {
  return ms === 0 && tokens !== 1 ? undefined : ms;
}
