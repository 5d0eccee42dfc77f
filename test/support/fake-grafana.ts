import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface StoredDashboard {
  readonly dashboard: Record<string, unknown>;
  readonly folderUid: string;
  readonly version: number;
  readonly message: string;
}

/**
 * The part of Grafana's HTTP API that we call, as its documentation states it (`developers/http_api/folder`, `/dashboard`):
 * bearer tokens, 404 for what is not there, 412 for what is there already, ids and versions given by the server.
 */
export class FakeGrafana implements AsyncDisposable {
  readonly folders = new Map<string, string>();
  readonly dashboards = new Map<string, StoredDashboard>();
  /** `METHOD path` of every request. */
  readonly requests: string[] = [];
  readonly token = "glsa_test";
  /** Answer every write with this status. */
  writeStatus: number | undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeGrafana> {
    const server = createServer();
    const fake = new FakeGrafana(server);
    server.on("request", (request, response) => void fake.#answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    this.requests.push(`${method} ${url}`);
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (headers.authorization !== `Bearer ${this.token}`) return send(401, { message: "Unauthorized" });
    if (method === "POST" && headers["content-type"] !== "application/json")
      return send(400, { message: "bad request data" });
    if (method === "POST" && this.writeStatus !== undefined)
      return send(this.writeStatus, { message: "You'll need additional permissions to perform this action" });
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const [, kind, uid] = /^\/api\/(folders|dashboards\/uid)\/([^/]+)$/.exec(url) ?? [];
    if (method === "GET" && kind === "folders") {
      const title = this.folders.get(uid ?? "");
      return title === undefined ? send(404, { message: "folder not found" }) : send(200, { uid, title });
    }
    if (method === "GET" && kind === "dashboards/uid") {
      const stored = this.dashboards.get(uid ?? "");
      if (stored === undefined) return send(404, { message: "Dashboard not found" });
      const { dashboard, folderUid, version } = stored;
      return send(200, { dashboard: { ...dashboard, id: 7, version }, meta: { folderUid, provisioned: false } });
    }
    if (method === "POST" && url === "/api/folders") {
      if (this.folders.has(String(body["uid"])))
        return send(412, { message: "a folder with the same uid already exists" });
      this.folders.set(String(body["uid"]), String(body["title"]));
      return send(200, body);
    }
    if (method === "POST" && url === "/api/dashboards/db") return this.#save(body, send);
    send(404, { message: "Not found" });
  }

  #save(body: Record<string, unknown>, send: (status: number, body: unknown) => void): void {
    const dashboard = body["dashboard"] as Record<string, unknown>;
    const folderUid = text(body["folderUid"]);
    const uid = String(dashboard["uid"]);
    if (folderUid !== "" && !this.folders.has(folderUid)) return send(400, { message: "folder not found" });
    if (typeof dashboard["title"] !== "string") return send(400, { message: "Dashboard title cannot be empty" });
    const before = this.dashboards.get(uid);
    if (before !== undefined && body["overwrite"] !== true)
      return send(412, { message: "The dashboard has been changed by someone else", status: "version-mismatch" });
    const version = (before?.version ?? 0) + 1;
    this.dashboards.set(uid, { dashboard, folderUid, version, message: text(body["message"]) });
    send(200, { id: 7, uid, url: `/d/${uid}`, status: "success", version, slug: uid });
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
