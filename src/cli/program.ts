import type { Readable } from "node:stream";
import { Command, CommanderError } from "commander";
import { UserError } from "../core/user-error.ts";
import { VERSION } from "../core/version.ts";
import { FORMS, RULE_DEFAULTS } from "../rule/options.ts";
import { SCENARIOS } from "../simulate/traffic.ts";
import type { Io } from "./io.ts";
import type { GrafanaTarget, KubernetesTarget, PrometheusTarget } from "./publish.ts";

export interface Environment {
  readonly io: Io;
  readonly stdin: () => Readable;
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  readonly revision: string;
}

/**
 * Runs one command line. Commands are loaded when they are called: `analyze` does not wait for the server and the exporters.
 *
 * @returns The exit code: 0 fine, 1 failed, 2 wrong usage or configuration.
 */
export async function runProgram(argv: readonly string[], environment: Environment): Promise<number> {
  const { io } = environment;
  let exitCode = 0;
  const program = buildProgram(environment, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UserError) {
      io.err(`tokentail: ${error.message}\n`);
      return error.exitCode;
    }
    throw error;
  }
}

function buildProgram({ io, stdin, signal, revision }: Environment, exit: (code: number) => void): Command {
  const program = new Command("tokentail");
  program
    .description("Turns the logs that LLM servers, gateways and RAG services already write into exact metrics.")
    .version(`tokentail ${VERSION} (${revision})`)
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(text.replace(/^error: /, "tokentail: ").replace(/\n\((.*)\)\n$/, " ($1)\n")),
    })
    .addHelpText("after", EXAMPLES);

  program
    .command("analyze")
    .description("read log files once and report: requests, tokens, latency quantiles, failures by cause")
    .argument("<file...>", "log files, plain or gzip; - for standard input")
    .option("--json", "print the report as one JSON document (schema tokentail.analyze/1)", false)
    .option("--profile <name>", "read every line with this profile instead of choosing per line")
    .option("-c, --config <file>", "configuration file whose own profiles are used too")
    .addHelpText(
      "after",
      "\nExamples:\n  tokentail analyze vllm.log\n  kubectl logs deploy/vllm | tokentail analyze -\n  tokentail analyze --json *.log | jq .latency_ms.ttft\n",
    )
    .action(async (files: string[], options: { json: boolean; profile?: string; config?: string }) => {
      const { analyze } = await import("./analyze.ts");
      exit(await analyze(files, options, io, stdin));
    });

  program
    .command("run")
    .description("follow logs and serve their metrics until stopped")
    .argument("[path...]", "files or glob patterns, - for standard input; default: the usual places under /var/log")
    .option("-c, --config <file>", "configuration file (YAML)")
    .option("--listen <host:port>", "address of the HTTP server (default 127.0.0.1:9843)")
    .option("--from-beginning", "read files that exist already from their beginning, not from their end", false)
    .addHelpText(
      "after",
      '\nExamples:\n  tokentail run /var/log/vllm/server.log\n  tokentail run "/var/log/pods/*/*/*.log"\n  tokentail run -c /etc/tokentail/config.yml\n\nPrometheus then scrapes http://HOST:9843/metrics.\n',
    )
    .action(async (paths: string[], options: { config?: string; listen?: string; fromBeginning: boolean }) => {
      const { run } = await import("./run.ts");
      exit(await run(paths, { ...options, stdin }, io, signal));
    });

  program
    .command("detect")
    .description("say who wrote the lines of a log, what they can tell, and what was not recognised")
    .argument("[file...]", "log files, plain or gzip; - for standard input")
    .option("--list", "list the built-in profiles", false)
    .option("-c, --config <file>", "configuration file whose own profiles are used too")
    .action(async (files: string[], options: { list: boolean; config?: string }) => {
      const { detect, listProfiles } = await import("./detect.ts");
      if (options.list) listProfiles(io);
      else if (files.length === 0) throw new UserError("detect needs a file, or --list", { exitCode: 2 });
      else exit(await detect(files, options, io, stdin));
    });

  program
    .command("templates")
    .description("say which messages a log is made of: words and slots, with counts")
    .argument("<file>", "log file; - for standard input")
    .option("--json", "print one JSON line per line of the file: {id, template}", false)
    .option("--format <header>", "what stands before the message, e.g. '<Date> <Time> <Level> <Component>: <Content>'")
    .addHelpText("after", "\nExample:\n  tokentail templates --format '<Date> <Time> <Level> <Content>' app.log\n")
    .action(async (file: string, options: { json: boolean; format?: string }) => {
      const { templates } = await import("./templates.ts");
      exit(await templates(file, options, io, stdin));
    });

  program
    .command("cluster")
    .description("name the causes of failure records and say what sets each apart from other traffic")
    .requiredOption("--input <file>", 'failures, one JSON object a line: {"id", "raw", "fields"}')
    .option("--baseline <file>", 'traffic to compare with, {"fields"} a line; default: the other failures')
    .option("--json", "print one JSON line per record, then the explanations", false)
    .addHelpText("after", "\nExample:\n  tokentail cluster --input failures.jsonl --baseline traffic.jsonl\n")
    .action(async (options: { input: string; baseline?: string; json: boolean }) => {
      const { cluster } = await import("./cluster.ts");
      exit(await cluster(options, io));
    });

  program
    .command("check")
    .description("validate a configuration file")
    .requiredOption("-c, --config <file>", "configuration file (YAML)")
    .action(async (options: { config: string }) => {
      const { check } = await import("./check.ts");
      exit(await check(options.config, io));
    });

  program
    .command("replay")
    .description("run the alert engine over old logs, by log time: what would have fired, and when")
    .argument("<file...>", "log files, plain or gzip, merged by the time in their lines")
    .requiredOption("-c, --config <file>", "configuration file with alerts and budgets (YAML)")
    .option("--json", "print one JSON document (schema tokentail.replay/1)", false)
    .option(
      "--set <path=value>",
      "try another setting, e.g. alerts.drift.max_drift=0.3; may be given again",
      (setting: string, before: string[]) => [...before, setting],
      [],
    )
    .action(async (files: string[], options: { config: string; json: boolean; set: string[] }) => {
      const { replay } = await import("./replay.ts");
      exit(await replay(files, options, io, stdin));
    });

  const publish = program
    .command("publish")
    .description("write alert rules and dashboards where Prometheus, Grafana or Kubernetes take them from");
  const target = (name: string, description: string): Command =>
    publish
      .command(name)
      .description(description)
      .option("-c, --config <file>", "configuration file; its thresholds go into the rules")
      .option("--out <dir>", "folder to write to")
      .option("--check", "change nothing; exit 1 if what is published differs", false)
      .option("--dry-run", "change nothing; show what would change", false);
  const withRules = (command: Command): Command =>
    command
      .option("--form <form>", `where the joint alert is decided: ${FORMS.join(", ")}`, "both")
      .option("--job <name>", "name of the scrape job", RULE_DEFAULTS.job)
      .option("--runbooks <url>", "address before the alert's name in runbook_url")
      .option("--grafana-url <url>", "address of Grafana, for links from alerts to dashboards");
  withRules(target("prometheus", "rule files"))
    .option("--reload-url <url>", "Prometheus that is asked to reload afterwards")
    .addHelpText(
      "after",
      "\nExample:\n  tokentail publish prometheus --out /etc/prometheus/rules --reload-url http://127.0.0.1:9090\n",
    )
    .action(async (options: PrometheusTarget) => {
      const { publishPrometheus } = await import("./publish.ts");
      exit(await publishPrometheus(options, io));
    });
  target("grafana", "dashboards, as a provisioning folder (--out) or through the HTTP API (--url)")
    .option("--url <url>", "address of Grafana")
    .option("--token-file <file>", "file with the token of a service account")
    .option("--folder <uid>", "uid of the folder, made if missing", "tokentail")
    .option(
      "--path <dir>",
      "with --out: where Grafana will see the dashboards",
      "/var/lib/grafana/dashboards/tokentail",
    )
    .addHelpText(
      "after",
      "\nExample:\n  tokentail publish grafana --url http://127.0.0.1:3000 --token-file /run/secrets/grafana\n",
    )
    .action(async (options: GrafanaTarget) => {
      const { publishToGrafana } = await import("./publish.ts");
      exit(await publishToGrafana(options, io));
    });
  withRules(
    target("kubernetes", "PrometheusRules, dashboard ConfigMaps and a PodMonitor; without --out on standard output"),
  )
    .option("--namespace <name>", "namespace of the resources", "monitoring")
    .option("--label <name=value...>", "label of every resource, e.g. what the ruleSelector asks for", [])
    .addHelpText(
      "after",
      "\nExample:\n  tokentail publish kubernetes --label release=kube-prometheus-stack | kubectl apply -f -\n",
    )
    .action(async (options: KubernetesTarget) => {
      const { publishKubernetes } = await import("./publish.ts");
      exit(await publishKubernetes(options, io));
    });

  program
    .command("simulate")
    .description("write realistic logs of three servers, with the totals a reader must find")
    .requiredOption("--out <dir>", "folder for the logs and truth.json; made if missing")
    .option("--scenario <name>", `one of: ${SCENARIOS.join(", ")}`, "steady")
    .option("--rate <n>", "requests a second, mean over the day", "5")
    .option("--seed <n>", "same seed, same logs", "1")
    .option("--duration <time>", "length of the logs, e.g. 90s, 15m, 24h", "10m")
    .option("--start <iso>", "time of the first line; default: so that the logs end now")
    .action(async (options: Record<"out" | "scenario" | "rate" | "seed" | "duration", string> & { start?: string }) => {
      const { simulate } = await import("./simulate.ts");
      exit(await simulate(options, io));
    });

  program
    .command("demo")
    .description("simulate three servers in a temporary folder, follow their logs, show what is found")
    .option("--listen <host:port>", "address of the HTTP server", "127.0.0.1:9843")
    .option("--rate <n>", "requests a second", "8")
    .option("--seed <n>", "same seed, same logs", "1")
    .option("--for <time>", "stop by itself after this long, e.g. 30s")
    .action(async (options: Record<"listen" | "rate" | "seed", string> & { for?: string }) => {
      const { demo } = await import("./demo.ts");
      exit(await demo(options, io, signal));
    });

  return program;
}

const EXAMPLES = `
First steps:
  tokentail analyze vllm.log      what does this file say?
  tokentail run vllm.log          the same, live, for Prometheus
  tokentail demo                  no log at hand

Exit codes: 0 fine, 1 failed (something could not be read), 2 wrong usage or configuration.
`;
