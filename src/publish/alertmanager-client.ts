import { readFile } from "node:fs/promises";
import { type PostAnswer, type PostOptions, post } from "./http-post.ts";
import type { AlertmanagerConfig } from "./schema.ts";

/** An alert as Alertmanager's API v2 takes it. */
export interface OutgoingAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAtMs: number;
  /** In the future for one that fires. */
  readonly endsAtMs: number;
  readonly generatorUrl: string | undefined;
}

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Receivers cut long texts, proxies refuse them. */
const MAX_ANNOTATION = 1000;

/**
 * The JSON of one alert with what Alertmanager would refuse left out: names that are no label names, empty values, a
 * generator that is no address. One bad part must not lose the alert, nor the batch.
 *
 * @returns Undefined when no label is left.
 */
export function wireAlert(alert: OutgoingAlert, external: Readonly<Record<string, string>>): unknown {
  const labels = clean({ ...external, ...alert.labels }, Number.POSITIVE_INFINITY);
  if (Object.keys(labels).length === 0) return undefined;
  return {
    labels,
    annotations: clean(alert.annotations, MAX_ANNOTATION),
    startsAt: new Date(alert.startsAtMs).toISOString(),
    endsAt: new Date(alert.endsAtMs).toISOString(),
    ...(alert.generatorUrl !== undefined && isHttpUrl(alert.generatorUrl) ? { generatorURL: alert.generatorUrl } : {}),
  };
}

function clean(pairs: Readonly<Record<string, string>>, maxChars: number): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(pairs)) {
    const text = value.toWellFormed();
    if (LABEL_NAME.test(name) && text !== "")
      kept[name] = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  }
  return kept;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}

/** `POST …/api/v2/alerts` of one instance. Secrets are read anew for each request: they are rotated under us. */
export class AlertmanagerClient {
  readonly url: string;
  readonly #endpoint: URL;
  readonly #config: AlertmanagerConfig;

  constructor(url: string, config: AlertmanagerConfig) {
    this.url = url;
    this.#endpoint = new URL(url);
    this.#endpoint.pathname = `${this.#endpoint.pathname.replace(/\/$/, "")}/api/v2/alerts`;
    this.#config = config;
  }

  async send(alerts: readonly unknown[]): Promise<PostAnswer> {
    const { timeout } = this.#config;
    const [authorization, tls] = await Promise.all([this.#authorization(), this.#tls()]);
    return await post(this.#endpoint, JSON.stringify(alerts), {
      headers: { "Content-Type": "application/json", "User-Agent": "tokentail", ...authorization },
      timeoutMs: timeout,
      ...tls,
    });
  }

  async #authorization(): Promise<Record<string, string>> {
    const { basic_auth: basic, bearer_token_file: bearer } = this.#config;
    if (bearer !== undefined) return { Authorization: `Bearer ${await secret(bearer)}` };
    if (basic === undefined) return {};
    const pair = `${basic.username}:${await secret(basic.password_file)}`;
    return { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
  }

  async #tls(): Promise<Pick<PostOptions, "tls">> {
    const { tls } = this.#config;
    if (tls === undefined || this.#endpoint.protocol !== "https:") return {};
    const [ca, cert, key] = await Promise.all([tls.ca_file, tls.cert_file, tls.key_file].map(readOptional));
    return {
      tls: {
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(tls.server_name === undefined ? {} : { servername: tls.server_name }),
      },
    };
  }
}

const secret = async (file: string): Promise<string> => (await readFile(file, "utf8")).trim();
const readOptional = async (file: string | undefined): Promise<Buffer | undefined> =>
  file === undefined ? undefined : await readFile(file);
