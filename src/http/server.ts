import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import { UserError } from "../core/user-error.ts";
import { wantsOpenMetrics } from "../metric/open-metrics.ts";

/** What the HTTP server shows; built by the application. */
export interface HttpViews {
  /** The exposition in text format 0.0.4, in pieces. */
  metrics(): Iterable<string>;
  /** The exposition in OpenMetrics 1.0, in pieces. */
  openMetrics(): Iterable<string>;
  /** Undefined when ready, else the reason why not. */
  notReady(): string | undefined;
  /** The document of `/api/v1/status`. */
  status(): unknown;
  /** The document of `/api/v1/alerts`. */
  alerts(): unknown;
  /** The document of `/api/v1/budgets`. */
  budgets(): unknown;
  /** The page that explains an alert; undefined when there is none of that fingerprint. */
  alertPage(fingerprint: string): string | undefined;
  /** Reads the configuration again. @returns Why that failed, if it did. */
  reload(): Promise<string | undefined>;
  /** The landing page. */
  page(): string;
}

const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";
const gzipAsync = promisify(gzip);

/** `/`, `/metrics`, `/-/healthy`, `/-/ready`, `/api/v1/status`; GET and HEAD only, anything else is 404 or 405. */
export class HttpServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #views: HttpViews;
  readonly #onError: (error: unknown, path: string) => void;

  private constructor(views: HttpViews, onError: (error: unknown, path: string) => void) {
    this.#views = views;
    this.#onError = onError;
    this.#server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
      void this.#answer(request, response);
    });
    this.#server.maxConnections = 512;
  }

  /**
   * @param listen `HOST:PORT`; an empty host is every interface, port 0 a free one.
   * @throws {UserError} When the address cannot be bound.
   */
  static async listen(
    listen: string,
    views: HttpViews,
    onError: (error: unknown, path: string) => void,
  ): Promise<HttpServer> {
    const http = new HttpServer(views, onError);
    const colon = listen.lastIndexOf(":");
    const host = listen.slice(0, colon).replace(/^\[|\]$/g, "");
    const port = Number(listen.slice(colon + 1));
    await new Promise<void>((resolve, reject) => {
      http.#server.once("error", reject);
      http.#server.listen({ port, ...(host === "" ? {} : { host }) }, () => {
        http.#server.off("error", reject);
        resolve();
      });
    }).catch((cause: unknown) => {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why =
        code === "EADDRINUSE"
          ? "the address is in use: another tokentail, or choose one with http.listen or --listen"
          : message;
      throw new UserError(`Cannot listen on ${listen}: ${why}`, { cause });
    });
    return http;
  }

  /** Base URL with the real port. */
  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo;
    const host = address === "::" || address === "0.0.0.0" ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
    return `http://${host}:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  /** Piece by piece, with a turn for others after each: a scrape of 100,000 lines must not hold up reading. */
  async #metrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const zipped = acceptsGzip(request);
    const open = wantsOpenMetrics(request.headers.accept);
    const pieces = open ? this.#views.openMetrics() : this.#views.metrics();
    response.writeHead(200, {
      "Content-Type": open ? OPEN_METRICS : TEXT_FORMAT,
      "X-Content-Type-Options": "nosniff",
      Vary: "Accept, Accept-Encoding",
      ...(zipped ? { "Content-Encoding": "gzip" } : {}),
    });
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    const body = Readable.from(inTurns(pieces));
    if (zipped) await pipeline(body, createGzip({ level: 1 }), response);
    else await pipeline(body, response);
  }

  async #reload(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST" && request.method !== "PUT") {
      response.setHeader("Allow", "POST, PUT");
      return send(response, 405, TEXT, "405: only POST and PUT\n");
    }
    const fault = await this.#views.reload();
    if (fault === undefined) return send(response, 200, TEXT, "configuration reloaded\n");
    return send(response, 500, TEXT, `configuration not reloaded: ${fault}\n`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    try {
      if (path === "/-/reload") return await this.#reload(request, response);
      const route = ROUTES[path] ?? alertRoute(path);
      if (route === undefined && path !== "/metrics")
        return send(response, 404, "text/plain; charset=utf-8", "404: no such page\n");
      if (request.method !== "GET" && request.method !== "HEAD") {
        response.setHeader("Allow", "GET, HEAD");
        return send(response, 405, "text/plain; charset=utf-8", "405: only GET and HEAD\n");
      }
      if (route === undefined) return await this.#metrics(request, response);
      const { status = 200, type, body } = await route(this.#views);
      if (body.length > 1024 && acceptsGzip(request)) {
        response.setHeader("Content-Encoding", "gzip");
        response.setHeader("Vary", "Accept-Encoding");
        return send(response, status, type, request.method === "HEAD" ? "" : await gzipAsync(body, { level: 1 }));
      }
      return send(response, status, type, request.method === "HEAD" ? "" : body);
    } catch (error) {
      this.#onError(error, path);
      if (!response.headersSent) return send(response, 500, "text/plain; charset=utf-8", "500: see the log\n");
      response.destroy();
    }
  }
}

interface Answer {
  readonly status?: number;
  readonly type: string;
  readonly body: string;
}

const acceptsGzip = (request: IncomingMessage): boolean =>
  /\bgzip\b/.test(request.headers["accept-encoding"]?.toString() ?? "");

async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece;
    await setImmediate();
  }
}

const ALERT_PAGE = /^\/alerts\/([0-9a-f]{16})$/;

function alertRoute(path: string): Route | undefined {
  const fingerprint = ALERT_PAGE.exec(path)?.[1];
  if (fingerprint === undefined) return undefined;
  return (views) => {
    const page = views.alertPage(fingerprint);
    return page === undefined
      ? { status: 404, type: TEXT, body: "404: this alert is over and forgotten\n" }
      : { type: "text/html; charset=utf-8", body: page };
  };
}

const TEXT = "text/plain; charset=utf-8";
type Route = (views: HttpViews) => Answer | Promise<Answer>;
const ROUTES: Readonly<Record<string, Route>> = {
  "/": (views) => ({ type: "text/html; charset=utf-8", body: views.page() }),
  "/-/healthy": () => ({ type: TEXT, body: "tokentail is healthy\n" }),
  "/-/ready": (views) => {
    const reason = views.notReady();
    return reason === undefined
      ? { type: TEXT, body: "tokentail is ready\n" }
      : { status: 503, type: TEXT, body: `tokentail is not ready: ${reason}\n` };
  },
  "/api/v1/alerts": (views) => ({ type: "application/json", body: `${JSON.stringify(views.alerts())}\n` }),
  "/api/v1/budgets": (views) => ({ type: "application/json", body: `${JSON.stringify(views.budgets())}\n` }),
  "/api/v1/status": (views) => ({ type: "application/json", body: `${JSON.stringify(views.status())}\n` }),
};

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { "Content-Type": type, "X-Content-Type-Options": "nosniff" });
  response.end(body);
}
