import { DASHBOARD_UIDS, type RuleOptions } from "./options.ts";
import { grew, N, promql, steady } from "./promql.ts";
import type { AlertRule, RuleFile, Severity } from "./rule.ts";

/** Alerts on tokentail itself: whoever watches must be watched. */
export function selfFile(options: RuleOptions): RuleFile {
  return {
    name: "tokentail-self",
    about: [`Alerts on tokentail itself. Its scrape job is expected to be named "${options.job}".`],
    groups: [{ name: "tokentail-self.alerts", rules: alerts(options) }],
  };
}

function alerts({ job, keepFiringFor }: RuleOptions): AlertRule[] {
  const alert = (severity: Severity, rest: Omit<AlertRule, "severity" | "alertgroup" | "dashboard">): AlertRule => ({
    severity,
    alertgroup: "tokentail",
    dashboard: DASHBOARD_UIDS.self,
    ...rest,
  });
  const node = "tokentail on {{ $labels.instance }}";
  return [
    alert("critical", {
      alert: "TokentailDown",
      for: "5m",
      expr: `up{job="${job}"} == 0`,
      summary: "tokentail cannot be scraped.",
      description: `${node} has not answered Prometheus for 5 minutes.`,
      runbook: {
        meaning:
          "Prometheus knows the target and gets no answer. Logs go on growing and will be read from the last position after a restart; alerts of this node are blind until then.",
        checks: [
          "`systemctl status tokentail` or the pod's state and last log.",
          "Does `http.listen` name an address that Prometheus can reach? The default is 127.0.0.1 only.",
          "Is the file system full that holds the state?",
        ],
        queries: [["Targets", `up{job="${job}"}`]],
      },
    }),
    alert("critical", {
      alert: "TokentailAbsent",
      for: "10m",
      expr: `absent(up{job="${job}"})`,
      summary: "No tokentail is known to Prometheus.",
      description: `Prometheus has no target in the scrape job "${job}".`,
      runbook: {
        meaning: "The scrape job finds no target: it was renamed, removed, or discovery returns nothing.",
        checks: [
          "Is the job named as in these rules? `publish` takes the name with `--job`.",
          "Kubernetes: do the labels of the PodMonitor still match the pods?",
        ],
        queries: [["Any tokentail at all", `count by (job) (${N.buildInfo})`]],
      },
    }),
    alert("warning", {
      alert: "TokentailNothingToRead",
      for: "30m",
      expr: `sum by (job, instance) (${steady(N.files)}) == 0`,
      summary: "tokentail follows no file.",
      description: `${node} follows no file: its patterns match nothing.`,
      runbook: {
        meaning: "No configured pattern matches a file, for half an hour. All figures of this node stand still.",
        checks: [
          "`tokentail check -c CONFIG` and the patterns of `sources`.",
          "Is the log folder mounted into the pod?",
          "Only journald or standard input configured? Then silence this alert for the node.",
        ],
        queries: [["Files by source", N.files]],
      },
    }),
    alert("warning", {
      alert: "TokentailUnreadableFiles",
      for: "10m",
      expr: `${steady(N.unreadableFiles)} > 0`,
      summary: "tokentail may not read some files.",
      description: `${node} cannot read {{ $value }} files of {{ $labels.source }}.`,
      runbook: {
        meaning:
          "Files match a pattern and cannot be opened. They are tried again; nothing is lost unless they are rotated away first.",
        checks: [
          "Owner and mode of the files and of every folder above them.",
          "systemd: groups of the unit. Kubernetes: `runAsUser` or the capability DAC_READ_SEARCH.",
        ],
        queries: [["Errors by reason", `increase(${N.sourceErrors}[15m])`]],
      },
    }),
    alert("warning", {
      alert: "TokentailLagging",
      for: "10m",
      keepFiringFor,
      expr: `${steady(N.lagSeconds)} > 120`,
      summary: "tokentail reads slower than logs are written.",
      description: `${node} has not reached the end of {{ $labels.source }} for {{ $value | humanizeDuration }}.`,
      runbook: {
        meaning:
          "Bytes have been waiting for more than two minutes. Figures and alerts are late by as much; a rotation may remove what is not read yet.",
        checks: [
          "Is the processor of the node or the limit of the pod used up?",
          "Is it a long backlog after a restart? Then the lag falls by itself.",
          "Is one file much busier than the others?",
        ],
        queries: [
          ["Bytes waiting", N.lagBytes],
          ["Bytes read a second", `rate(${N.readBytes}[5m])`],
        ],
      },
    }),
    alert("critical", {
      alert: "TokentailLostBytes",
      keepFiringFor: "1h",
      expr: grew(N.lostBytes, "job, instance, reason", "15m", 'reason!="overlong"'),
      summary: "Log lines were lost before tokentail read them.",
      description: `Bytes were lost on ${node} ({{ $labels.reason }}): counters and budgets are too low.`,
      runbook: {
        meaning:
          "A file was truncated or deleted before its end was read. What those bytes said is in no counter and no budget.",
        checks: [
          "Was tokentail down or lagging while the log rotated?",
          "copytruncate has a gap by nature: prefer rotation by rename with a delay before deletion.",
          "Keep at least one rotated file uncompressed, so that the rest can still be read.",
        ],
        queries: [["Lost bytes", `sum by (instance, reason) (${N.lostBytes})`]],
      },
    }),
    alert("warning", {
      alert: "TokentailStateDegraded",
      for: "5m",
      expr: `${steady(N.stateDegraded)} == 1`,
      summary: "tokentail cannot save its state.",
      description: `${node} cannot write its state; a crash now would lose counts.`,
      runbook: {
        meaning:
          "Commits fail. Figures go on in memory and are shown; a crash would set them back to the last commit, and lines would be read again from there.",
        checks: ["Disk full or read-only?", "Owner and mode of `state.path`."],
        queries: [["Failed commits", `increase(${N.commitErrors}[15m])`]],
      },
    }),
    alert("warning", {
      alert: "TokentailReloadFailed",
      for: "5m",
      expr: `${steady(N.reloadOk)} == 0`,
      summary: "tokentail runs with an old configuration.",
      description: `The last configuration of ${node} was refused; the one before is in force.`,
      runbook: {
        meaning:
          "A changed configuration is faulty. Nothing of it took effect; the daemon goes on with the last good one, and would not start with this one.",
        checks: ["`tokentail check -c CONFIG` names the fault.", "The daemon's log says the same."],
        queries: [["Reload state", N.reloadOk]],
      },
    }),
    alert("warning", {
      alert: "TokentailNotificationsFailing",
      for: "10m",
      keepFiringFor,
      expr: promql(`
        (
            rate(${N.notificationErrors}[10m])
          /
            (rate(${N.notificationErrors}[10m]) + rate(${N.notificationsSent}[10m]))
        ) > 0.1
      `),
      summary: "tokentail cannot deliver alerts to an Alertmanager.",
      description: `${node} fails to deliver {{ $value | humanizePercentage }} of its alerts to {{ $labels.alertmanager }}.`,
      runbook: {
        meaning:
          "More than a tenth of the sends to one Alertmanager failed. Other instances may still get them; if none does, pages are lost.",
        checks: [
          "Is it up, and is the address right?",
          "Certificate or password changed?",
          "The daemon's log names the status and the reason.",
        ],
        queries: [["Errors", `rate(${N.notificationErrors}[10m])`]],
      },
    }),
    alert("warning", {
      alert: "TokentailClockSkew",
      for: "10m",
      expr: `abs(${steady(N.alertmanagerSkew)}) > 60`,
      summary: "The clocks of tokentail and an Alertmanager differ.",
      description: `The clock of ${node} and that of {{ $labels.alertmanager }} are {{ $value | humanizeDuration }} apart.`,
      runbook: {
        meaning:
          "Alerts carry the time at which they end. Those of a node whose clock is minutes behind have ended before they arrive: Alertmanager answers 200 and shows nothing.",
        checks: ["Is the time of the node synchronised (`timedatectl`)?", "Is that of Alertmanager's host?"],
        queries: [["Seconds apart", N.alertmanagerSkew]],
      },
    }),
    alert("critical", {
      alert: "TokentailNotificationsDropped",
      keepFiringFor,
      expr: grew(N.notificationsDropped, "job, instance, alertmanager", "10m"),
      summary: "tokentail dropped alerts.",
      description: `${node} dropped alerts for {{ $labels.alertmanager }}: its queue was full.`,
      runbook: {
        meaning:
          "The queue of one Alertmanager was full and the oldest alerts were dropped. The next send of the same alerts makes up for it, if it gets through.",
        checks: [
          "See TokentailNotificationsFailing.",
          "Are there very many alerts at once? Coarser `by` labels make fewer.",
        ],
        queries: [["Dropped", `increase(${N.notificationsDropped}[10m])`]],
      },
    }),
    alert("warning", {
      alert: "TokentailSeriesOverflow",
      keepFiringFor: "1h",
      expr: grew(N.overflow, "job, instance, metric", "15m"),
      summary: "A metric reached its limit of series.",
      description: `{{ $labels.metric }} of ${node} has too many label values; new ones count as "other".`,
      runbook: {
        meaning: "Sums stay exact, but new models, routes or tenants are no longer told apart.",
        checks: [
          "Which label grew? Often a route with an id in it, or a tenant per user.",
          "Drop the label with `metrics.labels`, or raise `metrics.max_series`.",
        ],
        queries: [["Overflowed", N.overflow]],
      },
    }),
    alert("info", {
      alert: "TokentailLinesUnrecognised",
      for: "1h",
      expr: promql(`
        (
            sum by (job, instance) (rate(${N.lines}{result="unrecognised"}[30m]))
          /
            (sum by (job, instance) (rate(${N.lines}[30m])) > 0.1)
        ) > 0.5
      `),
      summary: "Most lines are of no known format.",
      description: `{{ $value | humanizePercentage }} of the lines on ${node} are not recognised.`,
      runbook: {
        meaning:
          "More than half of the lines belong to no profile. That is harmless for chatty applications, and a fault when it began with an upgrade of a server.",
        checks: ["`tokentail detect FILE` shows examples.", "Add a profile of your own, or exclude the files."],
        queries: [["By profile", `sum by (profile, result) (rate(${N.lines}[30m]))`]],
      },
    }),
    alert("warning", {
      alert: "TokentailHoldsDeletedFiles",
      for: "30m",
      expr: `${steady(N.heldDeletedBytes)} > 1073741824`,
      summary: "tokentail keeps deleted files on the disk.",
      description: `${node} holds {{ $value | humanize1024 }}B of deleted files of {{ $labels.source }} because their end is not read yet.`,
      runbook: {
        meaning:
          "Deleted files take space until they have been read to their end. Above 1 GiB for half an hour, reading is too slow for the rotation.",
        checks: [
          "See TokentailLagging.",
          "Is the disk short of space? A restart of tokentail frees it, and loses the unread rest, which is counted.",
        ],
        queries: [["Held", N.heldDeletedBytes]],
      },
    }),
  ];
}
