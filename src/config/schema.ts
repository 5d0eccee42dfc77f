import { z } from "zod";
import { labelNameFault } from "../metric/metric-set.ts";
import { UserProfile } from "../profile/user/schema.ts";

const LabelName = z.string().superRefine((name, context) => {
  const fault = labelNameFault(name);
  if (fault !== undefined) context.addIssue({ code: "custom", message: `Label name "${name}" ${fault}` });
});

const Source = z
  .strictObject({
    files: z.array(z.string().min(1)).min(1).describe("Paths or glob patterns (** for any depth) of files to follow."),
    exclude: z.array(z.string().min(1)).default([]).describe("Glob patterns of files to leave out."),
    profile: z.string().min(1).default("auto").describe("Profile that reads the lines; auto chooses per line."),
    labels: z.record(LabelName, z.string()).default({}).describe("Labels that every series of this source carries."),
    start_at: z
      .enum(["end", "beginning"])
      .default("end")
      .describe(
        "Where files that exist at the first start are read from; files found later are read from their beginning.",
      ),
  })
  .describe("Log files to follow.");

const Metrics = z
  .strictObject({
    labels: z
      .array(z.enum(["model", "route", "tenant"]))
      .default(["model", "route", "tenant"])
      .describe("Which of a request's own labels the series carry."),
    max_series: z
      .int()
      .min(10)
      .max(1_000_000)
      .default(10_000)
      .describe("Series of one metric before new label values become `other`."),
  })
  .describe("What /metrics shows.");

const Http = z
  .strictObject({
    listen: z
      .string()
      .regex(/^(?:\[[0-9a-fA-F:]+\]|[^:\s]*):\d{1,5}$/, "must be HOST:PORT, e.g. 127.0.0.1:9843")
      .default("127.0.0.1:9843")
      .describe("Address of the HTTP server, HOST:PORT; port 0 takes a free one."),
  })
  .describe("The HTTP server.");

const State = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .default(":memory:")
      .describe(
        "Folder of the state: read positions and the values they led to, so that a restart continues exactly. `:memory:` keeps none.",
      ),
  })
  .describe("What survives a restart.");

export const Config = z
  .strictObject({
    sources: z.array(Source).min(1).describe("What to read."),
    profiles: z.array(UserProfile).default([]).describe("Log formats of your own, tried before the built-in ones."),
    metrics: Metrics.prefault({}),
    http: Http.prefault({}),
    state: State.prefault({}),
  })
  .describe("Configuration of `tokentail run`.");
export type Config = z.infer<typeof Config>;

/** Directories where model servers and gateways usually log; used when no path is named. */
export const USUAL_PLACES = [
  "/var/log/vllm/**/*.log",
  "/var/log/sglang/**/*.log",
  "/var/log/llama*/**/*.log",
  "/var/log/ollama/**/*.log",
  "/var/log/tgi/**/*.log",
  "/var/log/litellm/**/*.log",
  "/var/log/triton/**/*.log",
  "/var/log/nginx/*access*.log",
  "/var/log/pods/*/*/*.log",
] as const;
