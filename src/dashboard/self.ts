import { METRICS as M } from "../metric/catalogue.ts";
import { DASHBOARD_UIDS } from "../rule/options.ts";
import type { DashboardSpec } from "./assemble.ts";
import { stat, stateTimeline, table, timeseries } from "./panel.ts";
import { overRange, pick, query, rate, share } from "./query.ts";

const DOWN = "tokentail is not scraped";
const BAD = [
  { from: null, color: "green" },
  { from: 1, color: "red" },
] as const;
const unrecognised = rate(M.lines, "", 'result="unrecognised"');

export const self: DashboardSpec = {
  uid: DASHBOARD_UIDS.self,
  title: "tokentail itself",
  description: "Whether everything that was written is read, recognised, kept and delivered.",
  from: "now-3h",
  services: false,
  rows: [
    {
      title: "Health",
      panels: [
        stat({
          title: "Nodes",
          description: `Instances that answer (\`${M.buildInfo.name}\`).`,
          empty: DOWN,
          unit: "short",
          queries: [query(`count(${pick(M.buildInfo)})`, "nodes")],
        }),
        stat({
          title: "Lines",
          description: `Lines read, a second (\`${M.lines.name}\`).`,
          empty: DOWN,
          unit: "short",
          queries: [query(rate(M.lines, ""), "lines")],
        }),
        stat({
          title: "Not recognised",
          description: `Share of lines that belong to no profile (\`${M.lines.name}\`).`,
          empty: "No line was read",
          unit: "percentunit",
          queries: [query(share(unrecognised, rate(M.lines, "")), "unrecognised")],
        }),
        stat({
          title: "Lag",
          description: `Longest time that bytes have been waiting (\`${M.lagSeconds.name}\`).`,
          empty: DOWN,
          unit: "s",
          steps: [
            { from: null, color: "green" },
            { from: 30, color: "yellow" },
            { from: 120, color: "red" },
          ],
          queries: [query(`max(${pick(M.lagSeconds)})`, "lag")],
        }),
        stat({
          title: "Lost",
          description: `Bytes that were written and never counted, within the range that is shown (\`${M.lostBytes.name}\`).`,
          empty: DOWN,
          unit: "bytes",
          steps: BAD,
          queries: [query(overRange(M.lostBytes, ""), "lost")],
        }),
        stat({
          title: "State not saved",
          description: `Nodes that cannot write their state (\`${M.stateDegraded.name}\`).`,
          empty: DOWN,
          unit: "short",
          steps: BAD,
          queries: [query(`sum(${pick(M.stateDegraded)})`, "nodes")],
        }),
      ],
    },
    {
      title: "Reading",
      panels: [
        timeseries({
          title: "Lines by profile",
          description: `Lines a second by the profile that took them (\`${M.lines.name}\`).`,
          empty: DOWN,
          unit: "short",
          stack: true,
          queries: [query(rate(M.lines, "profile, result"), "{{profile}} {{result}}")],
        }),
        timeseries({
          title: "Records by profile",
          description: `What lines became, a second (\`${M.records.name}\`), and entries dropped as duplicates (\`${M.duplicates.name}\`).`,
          empty: "No line became a record",
          unit: "short",
          queries: [query(rate(M.records, "profile"), "{{profile}}"), query(rate(M.duplicates, ""), "duplicates")],
        }),
        timeseries({
          title: "Bytes read",
          description: `\`${M.readBytes.name}\`.`,
          empty: DOWN,
          unit: "Bps",
          queries: [query(rate(M.readBytes, "instance"), "{{instance}}")],
        }),
        timeseries({
          title: "Lag by source",
          description: `Time that bytes have been waiting (\`${M.lagSeconds.name}\`).`,
          empty: DOWN,
          unit: "s",
          queries: [query(`max by (instance, source) (${pick(M.lagSeconds)})`, "{{instance}} {{source}}")],
        }),
        timeseries({
          title: "Bytes waiting, deleted files held",
          description: `\`${M.lagBytes.name}\`, \`${M.heldDeletedBytes.name}\`.`,
          empty: DOWN,
          unit: "bytes",
          queries: [
            query(`sum by (instance) (${pick(M.lagBytes)})`, "waiting {{instance}}"),
            query(`sum by (instance) (${pick(M.heldDeletedBytes)})`, "deleted, held {{instance}}"),
          ],
        }),
        timeseries({
          title: "Files",
          description: `Files followed (\`${M.files.name}\`), and those that may not be read (\`${M.unreadableFiles.name}\`).`,
          empty: DOWN,
          unit: "short",
          queries: [
            query(`sum by (instance) (${pick(M.files)})`, "followed {{instance}}"),
            query(`sum by (instance) (${pick(M.unreadableFiles)})`, "unreadable {{instance}}"),
          ],
        }),
        timeseries({
          title: "Rotations and truncations",
          description: `\`${M.rotations.name}\`, \`${M.truncations.name}\`.`,
          empty: DOWN,
          unit: "cps",
          queries: [query(rate(M.rotations, ""), "rotations"), query(rate(M.truncations, ""), "truncations")],
        }),
        timeseries({
          title: "Lost and skipped bytes",
          description: `\`${M.lostBytes.name}\`, \`${M.skippedBytes.name}\`, \`${M.invalidBytes.name}\`.`,
          empty: DOWN,
          unit: "Bps",
          queries: [
            query(rate(M.lostBytes, "reason"), "lost: {{reason}}"),
            query(rate(M.skippedBytes, "reason"), "skipped: {{reason}}"),
            query(rate(M.invalidBytes, ""), "no UTF-8"),
          ],
        }),
        timeseries({
          title: "Refused",
          description: `Figures refused (\`${M.rejected.name}\`), lines cut (\`${M.overlongLines.name}\`), label sets summed under other (\`${M.overflow.name}\`), reads that failed (\`${M.sourceErrors.name}\`).`,
          empty: "Nothing was refused and no read failed",
          unit: "cps",
          queries: [
            query(rate(M.rejected, "reason"), "value: {{reason}}"),
            query(rate(M.overlongLines, ""), "line too long"),
            query(rate(M.overflow, "metric"), "series: {{metric}}"),
            query(rate(M.sourceErrors, "reason"), "read: {{reason}}"),
          ],
        }),
      ],
    },
    {
      title: "State and delivery",
      panels: [
        stateTimeline({
          title: "State and configuration",
          description: `Nodes that cannot save their state (\`${M.stateDegraded.name}\`) or run with an old configuration (\`${M.reloadOk.name}\`).`,
          empty: DOWN,
          unit: "short",
          states: [
            [0, "well", "green"],
            [1, "trouble", "red"],
          ],
          queries: [
            query(`max by (instance) (${pick(M.stateDegraded)})`, "state {{instance}}"),
            query(`1 - min by (instance) (${pick(M.reloadOk)})`, "configuration {{instance}}"),
          ],
        }),
        timeseries({
          title: "Commits",
          description: `Duration of the last commit (\`${M.commitSeconds.name}\`) and its age (\`${M.lastCommit.name}\`).`,
          empty: DOWN,
          unit: "s",
          queries: [
            query(`max by (instance) (${pick(M.commitSeconds)})`, "duration {{instance}}"),
            query(`time() - min by (instance) (${pick(M.lastCommit)} > 0)`, "age {{instance}}"),
          ],
        }),
        timeseries({
          title: "Failed commits",
          description: `\`${M.commitErrors.name}\`.`,
          empty: DOWN,
          unit: "cps",
          queries: [query(rate(M.commitErrors, "instance"), "{{instance}}")],
        }),
        timeseries({
          title: "Notifications",
          description: `Alerts sent, failed and dropped, a second (\`${M.notificationsSent.name}\`, \`${M.notificationErrors.name}\`, \`${M.notificationsDropped.name}\`).`,
          empty: "No Alertmanager is configured, or no alert fired",
          unit: "cps",
          queries: [
            query(rate(M.notificationsSent, "alertmanager"), "sent {{alertmanager}}"),
            query(rate(M.notificationErrors, "alertmanager"), "failed {{alertmanager}}"),
            query(rate(M.notificationsDropped, "alertmanager"), "dropped {{alertmanager}}"),
          ],
        }),
        timeseries({
          title: "Alertmanagers",
          description: `Alerts that wait (\`${M.notificationsQueued.name}\`), and by how much an Alertmanager's clock is ahead of the node's (\`${M.alertmanagerSkew.name}\`): alerts of a slow node end before they arrive.`,
          empty: "No Alertmanager is configured",
          unit: "short",
          queries: [
            query(`sum by (alertmanager) (${pick(M.notificationsQueued)})`, "waiting {{alertmanager}}"),
            query(`max by (alertmanager) (abs(${pick(M.alertmanagerSkew)}))`, "seconds apart {{alertmanager}}"),
          ],
        }),
        timeseries({
          title: "Requests that no window or budget took",
          description: `By reason (\`${M.alertSkipped.name}\`): they are counted in all other figures.`,
          empty: "Every request was taken, or no alert is configured",
          unit: "cps",
          queries: [query(rate(M.alertSkipped, "reason"), "{{reason}}")],
        }),
        timeseries({
          title: "Pushes to a collector",
          description: `OTLP pushes a second by result (\`${M.otlpPushes.name}\`), and the age of the last one that was taken (\`${M.otlpLastPush.name}\`).`,
          empty: "No collector is configured",
          unit: "short",
          queries: [
            query(rate(M.otlpPushes, "result"), "{{result}}"),
            query(`time() - min by (instance) (${pick(M.otlpLastPush)} > 0)`, "seconds since the last {{instance}}"),
          ],
        }),
        table({
          title: "Versions",
          description: `\`${M.buildInfo.name}\`.`,
          empty: DOWN,
          columns: [["Nodes", "short"]],
          queries: [query(`count by (version, revision) (${pick(M.buildInfo)})`, "")],
        }),
      ],
    },
  ],
};
