/** What an incident is made of: one failure record, its cause named. */
export interface IncidentRecord {
  readonly cause: string;
  /** Event time, milliseconds; NaN when the line holds none: then it counts as next to the record before it. */
  readonly timeMs: number;
  /** Where it was seen: a stream, service or host. Cascades inside one are followed further than between them. */
  readonly scope: string;
}

/** One thing that went wrong, however many records tell of it. */
export interface Incident {
  /** Number of the incident, from 1, in order of their first record. */
  readonly number: number;
  /** The deepest cause seen so far: a later record may show the root of earlier ones. */
  cause: string;
  readonly scope: string;
  readonly firstMs: number;
  lastMs: number;
  records: number;
  /** Records by cause. */
  readonly causes: Record<string, number>;
}

/** All memory of the tracker; survives `structuredClone`. */
export interface IncidentState {
  /** Incidents that may still grow, oldest first. */
  open: Incident[];
  /** Incidents so far. */
  count: number;
  /** Event time of the last record that had one. */
  nowMs: number;
}

export const newIncidentState = (): IncidentState => ({ open: [], count: 0, nowMs: Number.NaN });

/** Records of one cause belong together while no more than this lies between two of them. */
const BURST_GAP_MS = 5 * 60_000;
/** What follows from a failure follows within this time. */
const CASCADE_GAP_MS = 60_000;
/** A root is logged at most this long after its first effects: processes write past each other, servers wait for the dead. */
const LATE_ROOT_MS = 15_000;
/** Open incidents; the oldest is closed beyond that. */
const MAX_OPEN = 64;

/** The caller's own doing: no incident of ours. */
const NO_INCIDENT: ReadonlySet<string> = new Set(["client_cancelled"]);

const ENGINE_ROOTS = [
  "gpu_hardware_fault",
  "gpu_driver_mismatch",
  "cuda_kernel_fault",
  "gpu_oom",
  "kv_cache_exhausted",
  "host_oom_killed",
  "shm_exhausted",
  "disk_full",
  "model_weights_unavailable",
  "nccl_distributed",
  "engine_hang_watchdog",
];
const DEATHS = ["shard_crash", "runner_crash", "worker_node_lost", "engine_dead", "model_load_failed"];
const STORE_ROOTS = ["disk_full", "host_oom_killed", "worker_node_lost", "vector_index_degraded", "db_pool_exhausted"];
const SEEN_AT_REQUESTS = ["internal_error", "stream_interrupted"];
const SEEN_FROM_OUTSIDE = [
  "upstream_error",
  "upstream_unreachable",
  "upstream_timeout",
  "upstream_overloaded",
  "queue_overflow",
];

/**
 * What may lie beneath a cause: a record of it within the cascade's time is the aftermath of such an incident, and such a
 * record shows the root of its incident.
 */
const BENEATH: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    "nccl_distributed",
    new Set(["gpu_hardware_fault", "cuda_kernel_fault", "gpu_oom", "host_oom_killed", "worker_node_lost"]),
  ],
  ["engine_hang_watchdog", new Set(["gpu_hardware_fault", "cuda_kernel_fault", "gpu_oom", "nccl_distributed"])],
  ["cuda_kernel_fault", new Set(["gpu_hardware_fault"])],
  ["host_oom_killed", new Set(["gpu_oom"])],
  ...DEATHS.map((cause) => [cause, new Set([...ENGINE_ROOTS, ...DEATHS.slice(0, DEATHS.indexOf(cause))])] as const),
  ["vector_index_degraded", new Set(["disk_full", "host_oom_killed", "worker_node_lost"])],
  ["model_load_cold_start", new Set([...ENGINE_ROOTS, ...DEATHS])],
  ["internal_error", new Set([...ENGINE_ROOTS, ...DEATHS, ...STORE_ROOTS])],
  ["stream_interrupted", new Set([...ENGINE_ROOTS, ...DEATHS, ...STORE_ROOTS, "internal_error"])],
  ...SEEN_FROM_OUTSIDE.map(
    (cause) => [cause, new Set([...ENGINE_ROOTS, ...DEATHS, ...STORE_ROOTS, ...SEEN_AT_REQUESTS])] as const,
  ),
]);
const OUTSIDE: ReadonlySet<string> = new Set([...SEEN_FROM_OUTSIDE, ...SEEN_AT_REQUESTS]);

/**
 * Takes one failure record, in order of the log.
 *
 * @returns The incident it belongs to, which may be new; undefined for what is no incident.
 */
export function trackIncident(state: IncidentState, record: IncidentRecord): Incident | undefined {
  if (NO_INCIDENT.has(record.cause)) return undefined;
  const timeMs = Number.isNaN(record.timeMs) ? state.nowMs : record.timeMs;
  if (!Number.isNaN(timeMs)) state.nowMs = Number.isNaN(state.nowMs) ? timeMs : Math.max(state.nowMs, timeMs);
  state.open = state.open.filter((incident) => !(state.nowMs - incident.lastMs > BURST_GAP_MS));
  // the latest first: of two that fit, the nearer in time
  for (let index = state.open.length - 1; index >= 0; index--) {
    const incident = state.open[index];
    if (incident !== undefined && belongs(incident, record, timeMs)) {
      // where either may lie beneath the other, the first stands
      if (lies(record.cause, incident.cause) && !lies(incident.cause, record.cause)) incident.cause = record.cause;
      incident.lastMs = Number.isNaN(incident.lastMs) ? timeMs : Math.max(incident.lastMs, timeMs);
      incident.records++;
      incident.causes[record.cause] = (incident.causes[record.cause] ?? 0) + 1;
      return incident;
    }
  }
  state.count++;
  const incident: Incident = {
    number: state.count,
    cause: record.cause,
    scope: record.scope,
    firstMs: timeMs,
    lastMs: timeMs,
    records: 1,
    causes: { [record.cause]: 1 },
  };
  state.open.push(incident);
  if (state.open.length > MAX_OPEN) state.open.shift();
  return incident;
}

function belongs(incident: Incident, record: IncidentRecord, timeMs: number): boolean {
  const gapMs = timeMs - incident.lastMs;
  const sameScope = incident.scope === record.scope;
  if (sameScope && record.cause in incident.causes) return !(gapMs > BURST_GAP_MS);
  if (gapMs > CASCADE_GAP_MS) return false;
  const follows = lies(incident.cause, record.cause);
  const explains = lies(record.cause, incident.cause);
  if (!sameScope) {
    // elsewhere the aftermath shows only in what callers see
    if (follows) return OUTSIDE.has(record.cause);
    return explains && OUTSIDE.has(incident.cause) && !(gapMs > LATE_ROOT_MS);
  }
  return follows || (explains && !(gapMs > LATE_ROOT_MS));
}

/** True when `root` may lie beneath `cause`. */
function lies(root: string, cause: string): boolean {
  return BENEATH.get(cause)?.has(root) === true;
}
