import { expect, test } from "vitest";
import { type IncidentRecord, newIncidentState, trackIncident } from "../../../src/failure/incidents.ts";

const at = (second: number, cause: string, scope = "vllm"): IncidentRecord => ({ cause, timeMs: second * 1000, scope });

/** Root causes of the incidents, in order. */
function causesOf(records: readonly IncidentRecord[], cut = -1): string[] {
  let state = newIncidentState();
  const causes = new Map<number, string>();
  for (const [index, record] of records.entries()) {
    if (index === cut) state = structuredClone(state);
    const incident = trackIncident(state, record);
    if (incident !== undefined) causes.set(incident.number, incident.cause);
  }
  expect(state.count).toBe(causes.size);
  return [...causes.values()];
}

test.for([
  {
    name: "worker, engine core, API server and failed requests tell of one GPU that ran out of memory",
    records: [
      at(0, "gpu_oom"),
      at(0, "gpu_oom"),
      at(1, "engine_dead"),
      at(1, "internal_error"),
      at(2, "internal_error"),
      at(3, "stream_interrupted"),
    ],
    causes: ["gpu_oom"],
  },
  {
    name: "a root that is logged after its effects becomes the cause",
    records: [at(0, "engine_dead"), at(1, "gpu_oom")],
    causes: ["gpu_oom"],
  },
  {
    name: "but not long after",
    records: [at(0, "queue_overflow"), at(50, "gpu_oom")],
    causes: ["queue_overflow", "gpu_oom"],
  },
  {
    name: "a burst is one incident",
    records: [at(0, "rate_limited"), at(100, "rate_limited"), at(200, "rate_limited")],
    causes: ["rate_limited"],
  },
  {
    name: "after five quiet minutes it is another",
    records: [at(0, "rate_limited"), at(301, "rate_limited")],
    causes: ["rate_limited", "rate_limited"],
  },
  {
    name: "unrelated causes side by side are two",
    records: [at(0, "gpu_oom"), at(1, "model_not_found")],
    causes: ["gpu_oom", "model_not_found"],
  },
  { name: "a client that leaves is none", records: [at(0, "client_cancelled")], causes: [] },
  {
    name: "what the gateway sees of a dead engine belongs to the engine",
    records: [
      at(0, "gpu_oom", "vllm"),
      at(5, "upstream_unreachable", "gateway"),
      at(6, "upstream_unreachable", "gateway"),
    ],
    causes: ["gpu_oom"],
  },
  {
    name: "two engines that die are two",
    records: [at(0, "gpu_oom", "a"), at(1, "gpu_oom", "b")],
    causes: ["gpu_oom", "gpu_oom"],
  },
  {
    name: "a record without time stands beside the one before it",
    records: [at(10, "nccl_distributed"), { cause: "worker_node_lost", timeMs: Number.NaN, scope: "vllm" }],
    causes: ["nccl_distributed"],
  },
  {
    name: "a fault of the card lies beneath the kernel that failed",
    records: [at(0, "cuda_kernel_fault"), at(2, "gpu_hardware_fault")],
    causes: ["gpu_hardware_fault"],
  },
])("trackIncident: $name", ({ records, causes }) => {
  expect(causesOf(records)).toEqual(causes);
  // a restart between any two records changes nothing
  for (let cut = 0; cut < records.length; cut++) expect(causesOf(records, cut)).toEqual(causes);
});

test("open incidents are bounded", () => {
  const state = newIncidentState();
  for (let index = 0; index < 500; index++)
    trackIncident(state, { cause: "gpu_oom", timeMs: index, scope: `s${index}` });
  expect(state.open.length).toBe(64);
  expect(state.count).toBe(500);
});
