import { chroma } from "./chroma/index.ts";
import { cloudflareAiGateway } from "./cloudflare-ai-gateway/index.ts";
import { dify } from "./dify/index.ts";
import { dynamo } from "./dynamo/index.ts";
import { elasticsearch } from "./elasticsearch/index.ts";
import { envoy, envoyAiGateway } from "./envoy/index.ts";
import { haystack } from "./haystack/index.ts";
import { higress } from "./higress/index.ts";
import { koboldcpp } from "./koboldcpp/index.ts";
import { kong } from "./kong/index.ts";
import { langchain } from "./langchain/index.ts";
import { lightllm } from "./lightllm/index.ts";
import { litellmJson, litellmSlp, litellmText } from "./litellm/index.ts";
import { llamaSwap } from "./llama-swap/index.ts";
import { llamacpp } from "./llamacpp/index.ts";
import { llamaindex } from "./llamaindex/index.ts";
import { lmdeploy } from "./lmdeploy/index.ts";
import { milvus } from "./milvus/index.ts";
import { nginx } from "./nginx/index.ts";
import { ollama } from "./ollama/index.ts";
import { openWebui } from "./open-webui/index.ts";
import { opensearch } from "./opensearch/index.ts";
import { otlp } from "./otlp/index.ts";
import { postgres } from "./postgres/index.ts";
import type { Profile } from "./profile.ts";
import { qdrant } from "./qdrant/index.ts";
import { qdrantAudit } from "./qdrant-audit/index.ts";
import { ragflow } from "./ragflow/index.ts";
import { rayServe } from "./ray-serve/index.ts";
import { sglang } from "./sglang/index.ts";
import { smg } from "./smg/index.ts";
import { structured } from "./structured/index.ts";
import { tabbyapi } from "./tabbyapi/index.ts";
import { tei } from "./tei/index.ts";
import { tgi } from "./tgi/index.ts";
import { triton } from "./triton/index.ts";
import { trtllm } from "./trtllm/index.ts";
import { uvicorn } from "./uvicorn/index.ts";
import { vllmRust, vllmV0, vllmV1 } from "./vllm/index.ts";
import { vllmRouter } from "./vllm-router/index.ts";
import { weaviate } from "./weaviate/index.ts";
import { xinference } from "./xinference/index.ts";

/** Every built-in profile, in the order of the documentation. */
export const PROFILES: readonly Profile[] = [
  vllmV1,
  vllmV0,
  vllmRust,
  lmdeploy,
  lightllm,
  rayServe,
  xinference,
  tabbyapi,
  koboldcpp,
  llamaSwap,
  vllmRouter,
  smg,
  sglang,
  llamacpp,
  ollama,
  tgi,
  tei,
  triton,
  trtllm,
  dynamo,
  litellmText,
  litellmJson,
  litellmSlp,
  envoyAiGateway,
  envoy,
  kong,
  higress,
  cloudflareAiGateway,
  nginx,
  qdrant,
  qdrantAudit,
  chroma,
  weaviate,
  milvus,
  elasticsearch,
  opensearch,
  postgres,
  otlp,
  dify,
  ragflow,
  openWebui,
  haystack,
  langchain,
  llamaindex,
  uvicorn,
  structured,
];
