import { z } from "zod";
import { Alerts } from "../alert/schema.ts";
import { Budgets } from "../budget/schema.ts";
import { durationTextMs } from "../core/duration-text.ts";
import { NAMINGS } from "../metric/catalogue.ts";
import { labelNameFault } from "../metric/metric-set.ts";
import { UserProfile } from "../profile/user/schema.ts";
import { Otlp } from "../publish/otlp-schema.ts";
import { Alertmanager } from "../publish/schema.ts";

const LabelName = z.string().superRefine((name, context) => {
  const fault = labelNameFault(name);
  if (fault !== undefined) context.addIssue({ code: "custom", message: `Label name "${name}" ${fault}` });
});

const Journald = z
  .strictObject({
    units: z
      .array(z.string().min(1))
      .default([])
      .describe("Units to read, with or without `.service`; globs work. Empty: the whole journal."),
  })
  .describe("The systemd journal, through `journalctl`.");

const Kubernetes = z
  .strictObject({
    pods: z.string().min(1).default("/var/log/pods").describe("Folder of the kubelet's container logs."),
  })
  .describe("Logs of all containers of a node; labels namespace, pod, container and restart_count come from the path.");

/** What a source reads: exactly one of these. */
const KINDS = ["files", "journald", "stdin", "kubernetes"] as const;

const Source = z
  .strictObject({
    files: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("Paths or glob patterns (** for any depth) of files to follow."),
    journald: Journald.optional(),
    stdin: z
      .literal(true)
      .optional()
      .describe("Standard input. Cannot be read again: a crash loses what was in the pipe."),
    kubernetes: Kubernetes.optional(),
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
  .superRefine((source, context) => {
    const named = KINDS.filter((kind) => source[kind] !== undefined);
    if (named.length === 1) return;
    const message =
      named.length === 0
        ? `Names nothing to read: needs one of ${KINDS.join(", ")}`
        : `Names ${named.join(" and ")}: make a source of each`;
    context.addIssue({ code: "custom", message });
  })
  .describe("Where lines come from: exactly one of files, journald, stdin and kubernetes.");
export type SourceConfig = z.infer<typeof Source>;

const MIN_IDLE_MS = 60_000;

const IdleExpiry = z
  .string()
  .default("never")
  .transform((text, context) => {
    if (text === "never") return undefined;
    const ms = durationTextMs(text);
    if (!(ms >= MIN_IDLE_MS))
      context.addIssue({ code: "custom", message: "must be never, or a duration of 1m or more" });
    return ms;
  });

const Metrics = z
  .strictObject({
    naming: z
      .enum(NAMINGS)
      .default("llm")
      .describe(
        "Names of the metrics: our own (llm), those of the OpenTelemetry GenAI conventions where they have one (genai), or both. Rules and dashboards use our own.",
      ),
    idle_expiry: IdleExpiry.describe(
      "Series that have not changed for this long vanish, e.g. 24h; they begin at 0 when they come back. Default: never.",
    ),
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
    otlp: Otlp.optional(),
    budgets: Budgets,
    alerts: Alerts,
    alertmanager: Alertmanager,
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
