import { chroma } from "./chroma/index.ts";
import { elasticsearch } from "./elasticsearch/index.ts";
import { milvus } from "./milvus/index.ts";
import { opensearch } from "./opensearch/index.ts";
import type { Profile } from "./profile.ts";
import { qdrant } from "./qdrant/index.ts";
import { qdrantAudit } from "./qdrant-audit/index.ts";
import { sglang } from "./sglang/index.ts";
import { structured } from "./structured/index.ts";
import { uvicorn } from "./uvicorn/index.ts";
import { vllmRust, vllmV0, vllmV1 } from "./vllm/index.ts";
import { weaviate } from "./weaviate/index.ts";

/** Every built-in profile, in the order of the documentation. */
export const PROFILES: readonly Profile[] = [
  vllmV1,
  vllmV0,
  vllmRust,
  sglang,
  qdrant,
  qdrantAudit,
  chroma,
  weaviate,
  milvus,
  elasticsearch,
  opensearch,
  uvicorn,
  structured,
];
