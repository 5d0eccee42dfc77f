import { z } from "zod";
import { LATENCY_NAMES } from "../../model/latency.ts";

/** Figures a user profile may fill, and the unit that each is kept in. */
export const DURATION_FIELDS = LATENCY_NAMES.map((name) => `${name}_ms` as const);
export const TOKEN_FIELDS = [
  "tokens_in",
  "tokens_in_processed",
  "tokens_in_cached",
  "tokens_out",
  "tokens_out_reasoning",
] as const;
export const TEXT_FIELDS = [
  "model",
  "tenant",
  "route",
  "request_id",
  "trace_id",
  "finish_reason",
  "error",
  "outcome",
] as const;
export const OTHER_FIELDS = ["cost_usd", "status", "time"] as const;
export const FIELDS = [...DURATION_FIELDS, ...TOKEN_FIELDS, ...TEXT_FIELDS, ...OTHER_FIELDS] as const;
export type UserField = (typeof FIELDS)[number];

const FieldSource = z
  .union([
    z.string().min(1),
    z.strictObject({
      from: z.string().min(1).describe("Capture group, key, or path of keys joined by dots."),
      unit: z
        .enum(["ns", "us", "ms", "s", "m", "auto"])
        .default("auto")
        .describe("Unit of a duration; auto reads the unit that the value carries (`1.2s`)."),
    }),
  ])
  .describe("Where the figure is, in short or with its unit.");

const Condition = z
  .union([
    z.string(),
    z.number(),
    z.boolean(),
    z.strictObject({ exists: z.literal(true) }),
    z.strictObject({ regex: z.string().min(1) }),
  ])
  .describe("The value it must have, `{exists: true}`, or `{regex: …}`.");

const Match = z
  .strictObject({
    regex: z
      .string()
      .min(1)
      .optional()
      .describe("Regular expression at the start of the line; named groups are its fields."),
    grok: z
      .string()
      .min(1)
      .optional()
      .describe("Grok expression, e.g. `%{TIMESTAMP_ISO8601:time} %{WORD:level} ttft=%{NUMBER:ttft}`."),
    json: z
      .record(z.string(), Condition)
      .optional()
      .describe("JSON line: paths of keys joined by dots, and what must stand there."),
    logfmt: z.record(z.string(), Condition).optional().describe("key=value line: keys, and what must stand there."),
  })
  .refine(
    (match) => Object.values(match).filter((value) => value !== undefined).length === 1,
    "needs exactly one of regex, grok, json, logfmt",
  );

const Test = z.strictObject({
  line: z.string().describe("One line as the log has it (several with \\n when `multiline` is set)."),
  expect: z
    .union([z.literal("no match"), z.record(z.string(), z.union([z.string(), z.number()]))])
    .describe("The fields that must come out, or `no match`."),
});

/** One entry of `profiles:` in the configuration. */
export const UserProfile = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,62}$/, "must be lower-case letters, digits and -")
      .describe("Name in reports and labels."),
    match: Match.describe("Which lines are this writer's."),
    fields: z.partialRecord(z.enum(FIELDS), FieldSource).describe("What the line tells."),
    labels: z
      .partialRecord(z.enum(["model", "tenant", "route"]), z.string().min(1))
      .default({})
      .describe("Fixed labels of every request of this profile."),
    multiline: z
      .strictObject({
        start: z.string().min(1).describe("Regular expression that begins a record; other lines go on the one before."),
      })
      .optional(),
    tests: z.array(Test).default([]).describe("Lines with what they must give; `tokentail check` runs them."),
  })
  .describe("A log format of your own.");
export type UserProfile = z.infer<typeof UserProfile>;
