import { ACCESS_CAUSES } from "./causes/access.ts";
import { GPU_CAUSES } from "./causes/gpu.ts";
import { HOST_CAUSES } from "./causes/host.ts";
import { LIMIT_CAUSES } from "./causes/limits.ts";
import { MODEL_CAUSES } from "./causes/model.ts";
import { REQUEST_CAUSES } from "./causes/request.ts";
import { RETRIEVAL_CAUSES } from "./causes/retrieval.ts";
import { SERVICE_CAUSES } from "./causes/service.ts";
import { UPSTREAM_CAUSES } from "./causes/upstream.ts";
import type { Cause } from "./evidence.ts";

/** Version of names and evidence: raised when a cause is added, removed or renamed, or when records move between causes. */
export const CATALOGUE_VERSION = 1;

/** Every cause, in order of topic. Names are label values: they change only with the version. */
export const CATALOGUE: readonly Cause[] = [
  ...GPU_CAUSES,
  ...HOST_CAUSES,
  ...LIMIT_CAUSES,
  ...UPSTREAM_CAUSES,
  ...REQUEST_CAUSES,
  ...ACCESS_CAUSES,
  ...RETRIEVAL_CAUSES,
  ...MODEL_CAUSES,
  ...SERVICE_CAUSES,
];
