import { readFile } from "node:fs/promises";
import { loadConfig } from "../config/load.ts";
import { UserError } from "../core/user-error.ts";
import { publishGrafana } from "../publish/grafana-api.ts";
import { grafanaFiles, isGrafanaFileOfOurs } from "../publish/grafana-files.ts";
import { isManifestOfOurs, kubernetesFiles } from "../publish/kubernetes-manifests.ts";
import { isRuleFileOfOurs, prometheusFiles, reloadPrometheus } from "../publish/prometheus-rules.ts";
import { lineDiff } from "../publish/published-diff.ts";
import { type Change, publishFolder } from "../publish/published-folder.ts";
import { FORMS, type Form, RULE_DEFAULTS, type RuleOptions } from "../rule/options.ts";
import type { Io } from "./io.ts";

/** Options of all three targets. */
interface CommonOptions {
  readonly config?: string;
  readonly out?: string;
  readonly check: boolean;
  readonly dryRun: boolean;
}

interface RuleFlags {
  readonly form: string;
  readonly job: string;
  readonly runbooks?: string;
  readonly grafanaUrl?: string;
}

export interface PrometheusTarget extends CommonOptions, RuleFlags {
  readonly reloadUrl?: string;
}

export interface GrafanaTarget extends CommonOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly folder: string;
  readonly path: string;
}

export interface KubernetesTarget extends CommonOptions, RuleFlags {
  readonly namespace: string;
  readonly label: readonly string[];
}

/** `tokentail publish prometheus`. @returns 1 when `--check` found a difference. */
export async function publishPrometheus(options: PrometheusTarget, io: Io): Promise<0 | 1> {
  const folder = needed(options.out, "publish prometheus needs --out DIR");
  const files = prometheusFiles(await ruleOptions(options), formNamed(options.form));
  const changes = await publishFolder(folder, files, { isOurs: isRuleFileOfOurs, dryRun: dry(options) });
  const code = report(changes, options, io);
  if (options.reloadUrl !== undefined && !dry(options)) {
    await reloadPrometheus(options.reloadUrl);
    io.out("Prometheus has read its rules anew\n");
  }
  return code;
}

/** `tokentail publish grafana`: a folder for provisioning, or the HTTP API. */
export async function publishToGrafana(options: GrafanaTarget, io: Io): Promise<0 | 1> {
  if ((options.out === undefined) === (options.url === undefined))
    throw new UserError("publish grafana needs either --out DIR or --url URL", { exitCode: 2 });
  if (options.config !== undefined) await loadConfig(options.config);
  if (options.out !== undefined) {
    const files = grafanaFiles(options.path);
    return report(
      await publishFolder(options.out, files, { isOurs: isGrafanaFileOfOurs, dryRun: dry(options) }),
      options,
      io,
    );
  }
  const changes = await publishGrafana({
    url: httpUrl("--url", options.url ?? ""),
    token: options.tokenFile === undefined ? undefined : await secret(options.tokenFile),
    folderUid: options.folder,
    dryRun: dry(options),
  });
  return report(changes, options, io);
}

/** `tokentail publish kubernetes`: manifests in a folder, or on standard output for `kubectl apply -f -`. */
export async function publishKubernetes(options: KubernetesTarget, io: Io): Promise<0 | 1> {
  const files = kubernetesFiles(await ruleOptions(options), formNamed(options.form), {
    namespace: options.namespace,
    labels: Object.fromEntries(options.label.map(pairOf)),
  });
  if (options.out === undefined) {
    if (options.check) throw new UserError("publish kubernetes --check needs --out DIR", { exitCode: 2 });
    io.out([...files.values()].join("---\n"));
    return 0;
  }
  return report(
    await publishFolder(options.out, files, { isOurs: isManifestOfOurs, dryRun: dry(options) }),
    options,
    io,
  );
}

const dry = ({ check, dryRun }: CommonOptions): boolean => check || dryRun;

/** One line for each change; with its lines when nothing was done yet. */
function report(changes: readonly Change[], options: CommonOptions, io: Io): 0 | 1 {
  let different = 0;
  for (const { action, what, before, after } of changes) {
    io.out(`${action.padEnd(9)} ${what}\n`);
    if (action !== "unchanged") different++;
    if (dry(options) && action === "update") io.out(`${lineDiff(before ?? "", after ?? "")}\n`);
  }
  return options.check && different > 0 ? 1 : 0;
}

/** What the configuration's alert section says, where it has one. Durations in milliseconds. */
interface AlertSection {
  readonly drift: {
    readonly max_drift: number;
    readonly min_samples: number;
    readonly rule: RuleOptions["drift"]["rule"];
  };
  readonly tokens: { readonly warn_at: number };
  readonly for: number;
  readonly keep_firing_for: number;
}

async function ruleOptions(options: CommonOptions & RuleFlags): Promise<RuleOptions> {
  const { config, job, runbooks, grafanaUrl } = options;
  const flags = {
    job,
    ...(runbooks === undefined ? {} : { runbooks: runbooks.endsWith("/") ? runbooks : `${runbooks}/` }),
    ...(grafanaUrl === undefined ? {} : { grafana: httpUrl("--grafana-url", grafanaUrl).replace(/\/+$/, "") }),
  };
  if (config === undefined) return { ...RULE_DEFAULTS, ...flags };
  const { alerts } = (await loadConfig(config)) as { readonly alerts?: AlertSection };
  if (alerts === undefined) return { ...RULE_DEFAULTS, ...flags };
  return {
    ...RULE_DEFAULTS,
    ...flags,
    drift: { maxDrift: alerts.drift.max_drift, minSamples: alerts.drift.min_samples, rule: alerts.drift.rule },
    tokens: { warnAt: alerts.tokens.warn_at },
    for: promDuration(alerts.for),
    keepFiringFor: promDuration(alerts.keep_firing_for),
  };
}

/** A duration as Prometheus reads it. */
function promDuration(ms: number): string {
  if (ms % 60_000 === 0 && ms > 0) return `${ms / 60_000}m`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

function formNamed(name: string): Form {
  const found = FORMS.find((form) => form === name);
  if (found === undefined)
    throw new UserError(`--form: no form "${name}"; there are ${FORMS.join(", ")}`, { exitCode: 2 });
  return found;
}

function needed(value: string | undefined, message: string): string {
  if (value === undefined) throw new UserError(message, { exitCode: 2 });
  return value;
}

function httpUrl(option: string, text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UserError(`${option}: "${text}" is no http:// or https:// address`, { exitCode: 2 });
  return text;
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UserError(`--label: "${text}" is no NAME=VALUE`, { exitCode: 2 });
  return [text.slice(0, at), text.slice(at + 1)];
}

async function secret(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (cause) {
    throw new UserError(`Cannot read --token-file "${file}": ${(cause as Error).message}`, { exitCode: 2, cause });
  }
}
