import { createHash } from "node:crypto";
import { UserError } from "../core/user-error.ts";
import { dashboards, renderDashboard } from "../dashboard/dashboards.ts";
import type { Dashboard } from "../dashboard/model.ts";
import { isDashboardOfOurs } from "./grafana-files.ts";
import { causeOf } from "./prometheus-rules.ts";
import type { Change } from "./published-folder.ts";

export interface GrafanaOptions {
  /** Address of Grafana, path prefix included. */
  readonly url: string;
  /** Token of a service account; undefined for none. */
  readonly token: string | undefined;
  /** `uid` of the folder; made if missing. */
  readonly folderUid: string;
  readonly dryRun: boolean;
}

const FOLDER_TITLE = "tokentail";
const TIMEOUT_MS = 30_000;
/** The tag that says which version of a dashboard is there: Grafana changes the JSON that it stores. */
const HASH_TAG = "tokentail-hash-";

/**
 * Publishes the dashboards through Grafana's HTTP API (`/api/folders`, `/api/dashboards`; Grafana 9 to 13). What is there
 * already in the same version is left alone; a dashboard with one of our uids that is not ours is never overwritten.
 *
 * @throws {UserError} Exit code 1; nothing has been written when a foreign dashboard stands in the way.
 */
export async function publishGrafana(options: GrafanaOptions): Promise<Change[]> {
  const api = new GrafanaApi(options);
  const wanted = dashboards().map(tagged);
  const changes: Change[] = [];
  const pending: Dashboard[] = [];
  const folderExists = await api.folderExists(options.folderUid);
  for (const dashboard of wanted) {
    const stored = await api.dashboard(dashboard.uid);
    if (stored !== undefined && !isDashboardOfOurs(stored.dashboard)) {
      throw new UserError(
        `Grafana has another dashboard "${String(stored.dashboard["title"])}" with uid "${dashboard.uid}"; give it another uid, or publish elsewhere`,
      );
    }
    const same = stored !== undefined && isSame(stored, dashboard, options.folderUid);
    if (!same) pending.push(dashboard);
    changes.push({
      action: stored === undefined ? "create" : same ? "unchanged" : "update",
      what: dashboard.title,
      before: stored === undefined ? undefined : (hashOf(stored.dashboard) ?? "no hash"),
      after: hashOf(dashboard),
    });
  }
  if (options.dryRun) return changes;
  if (!folderExists && pending.length > 0) await api.makeFolder(options.folderUid, FOLDER_TITLE);
  for (const dashboard of pending) await api.save(dashboard, options.folderUid);
  return changes;
}

/** Twelve hexadecimal digits of the content, as a tag. */
function tagged(dashboard: Dashboard): Dashboard {
  const hash = createHash("sha256").update(renderDashboard(dashboard)).digest("hex").slice(0, 12);
  return { ...dashboard, tags: [...dashboard.tags, `${HASH_TAG}${hash}`] };
}

const hashOf = (dashboard: { readonly tags?: unknown }): string | undefined =>
  (Array.isArray(dashboard.tags) ? (dashboard.tags as unknown[]) : []).find(
    (tag): tag is string => typeof tag === "string" && tag.startsWith(HASH_TAG),
  );

const isSame = (stored: Stored, dashboard: Dashboard, folderUid: string): boolean =>
  hashOf(stored.dashboard) === hashOf(dashboard) && stored.folderUid === folderUid;

interface Stored {
  readonly dashboard: Readonly<Record<string, unknown>>;
  readonly folderUid: string | undefined;
}

/** The four calls we make. */
class GrafanaApi {
  readonly #base: string;
  readonly #token: string | undefined;

  constructor({ url, token }: { url: string; token: string | undefined }) {
    this.#base = url.replace(/\/+$/, "");
    this.#token = token;
  }

  async folderExists(uid: string): Promise<boolean> {
    return (await this.#call("GET", `/api/folders/${encodeURIComponent(uid)}`, undefined, [404])) !== undefined;
  }

  async makeFolder(uid: string, title: string): Promise<void> {
    // 412: another run made it meanwhile
    await this.#call("POST", "/api/folders", { uid, title }, [412]);
  }

  async dashboard(uid: string): Promise<Stored | undefined> {
    const body = await this.#call("GET", `/api/dashboards/uid/${encodeURIComponent(uid)}`, undefined, [404]);
    if (body === undefined) return undefined;
    const { dashboard, meta } = body as { dashboard?: Record<string, unknown>; meta?: { folderUid?: unknown } };
    const folderUid = typeof meta?.folderUid === "string" ? meta.folderUid : undefined;
    return { dashboard: dashboard ?? {}, folderUid };
  }

  async save(dashboard: Dashboard, folderUid: string): Promise<void> {
    await this.#call("POST", "/api/dashboards/db", {
      dashboard,
      folderUid,
      overwrite: true,
      message: `tokentail publish ${hashOf(dashboard)}`,
    });
  }

  /** @returns The answer's JSON; undefined for a status in `absent`. */
  async #call(method: string, path: string, body?: unknown, absent: readonly number[] = []): Promise<unknown> {
    const address = `${this.#base}${path}`;
    let response: Response;
    try {
      response = await fetch(address, {
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (cause) {
      throw new UserError(`Cannot reach Grafana at ${address}: ${causeOf(cause)}`, { cause });
    }
    if (absent.includes(response.status)) return undefined;
    const text = await response.text();
    if (!response.ok)
      throw new UserError(
        `Grafana refused ${method} ${path}: ${response.status} ${told(text)}${hint(response.status)}`,
      );
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new UserError(`${address} did not answer with JSON; is this the address of Grafana?`, { cause });
    }
  }
}

/** The message of an error answer: `{"message": …}`, or the text as it is. */
function told(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // not JSON: a proxy's page
  }
  return text.trim().slice(0, 200);
}

function hint(status: number): string {
  if (status === 401) return "; give a service account's token with --token-file";
  if (status === 403)
    return "; the service account needs the role Editor, or dashboards:create, dashboards:write and folders:create";
  return "";
}
