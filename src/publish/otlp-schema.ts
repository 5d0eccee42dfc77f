import { z } from "zod";
import { durationText } from "../core/duration-text.ts";

const Endpoint = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    error: (issue) => `"${String(issue.input)}" is no http:// or https:// address`,
  })
  .describe("Address of the collector, e.g. `http://127.0.0.1:4318`; `/v1/metrics` is appended unless it ends so.");

export const Otlp = z
  .strictObject({
    endpoint: Endpoint,
    protocol: z.literal("http/protobuf").default("http/protobuf").describe("The only transport there is."),
    interval: durationText({ minMs: 1000, maxMs: 3_600_000 }, "60s").describe("Time between two pushes."),
    timeout: durationText({ minMs: 100, maxMs: 60_000 }, "10s").describe(
      "Longest wait for an answer, retries included; also at shutdown.",
    ),
    headers: z.record(z.string().min(1), z.string()).default({}).describe("Headers of each push."),
    bearer_token_file: z.string().min(1).optional().describe("File that holds a bearer token; read anew at each push."),
    resource: z
      .record(z.string().min(1), z.string())
      .default({})
      .describe(
        "Resource attributes, beside `service.name`, `service.version`, `service.instance.id` and `host.name`.",
      ),
  })
  .describe("Push of all metrics to an OpenTelemetry collector.");
export type OtlpConfig = z.infer<typeof Otlp>;
