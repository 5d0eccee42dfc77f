import { z } from "zod";
import { durationText } from "../core/duration-text.ts";
import { labelNameFault } from "../metric/metric-set.ts";

const LabelName = z.string().superRefine((name, context) => {
  const fault = labelNameFault(name);
  if (fault !== undefined) context.addIssue({ code: "custom", message: `Label name "${name}" ${fault}` });
});

const HttpUrl = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
  error: (issue) => `"${String(issue.input)}" is no http:// or https:// address`,
});

export const Alertmanager = z
  .strictObject({
    urls: z
      .array(HttpUrl)
      .max(20)
      .default([])
      .describe("Every Alertmanager of the cluster, path prefix included; never a load balancer before them."),
    resend: durationText({ minMs: 1000, maxMs: 600_000 }, "1m").describe("Firing alerts are sent again this often."),
    timeout: durationText({ minMs: 100, maxMs: 60_000 }, "10s").describe("Longest wait for an answer."),
    external_labels: z
      .record(LabelName, z.string())
      .default({})
      .describe("Labels added to every alert that lacks them, e.g. cluster or node."),
    external_url: HttpUrl.optional().describe("Address under which people reach this daemon, for links in alerts."),
    basic_auth: z
      .strictObject({ username: z.string(), password_file: z.string().min(1) })
      .optional()
      .describe("HTTP basic authentication."),
    bearer_token_file: z.string().min(1).optional().describe("File that holds a bearer token."),
    tls: z
      .strictObject({
        ca_file: z.string().optional().describe("Certificates that may sign the server's."),
        cert_file: z.string().optional().describe("Client certificate."),
        key_file: z.string().optional().describe("Key of the client certificate."),
        server_name: z.string().optional().describe("Name that the server's certificate must bear."),
      })
      .optional()
      .describe("TLS of https addresses."),
  })
  .prefault({})
  .describe("Where alerts are pushed to.");
export type AlertmanagerConfig = z.infer<typeof Alertmanager>;
