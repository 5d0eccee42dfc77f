import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly tls?: Pick<RequestOptions, "ca" | "cert" | "key" | "servername">;
}

export interface PostAnswer {
  readonly status: number;
  /** The server's clock, milliseconds since the epoch; NaN when it does not tell. */
  readonly dateMs: number;
  /** Beginning of the body. */
  readonly text: string;
}

/** Longest part of an answer that is kept, for messages. */
const MAX_TEXT = 2000;

/** One POST, without redirects or retries. @throws When no answer came within the timeout. */
export function post(url: URL, body: string, { headers, timeoutMs, tls }: PostOptions): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      method: "POST",
      headers: { ...headers, "Content-Length": Buffer.byteLength(body) },
      signal: AbortSignal.timeout(timeoutMs),
      ...tls,
    });
    request.on("error", (error) =>
      reject(error.name === "AbortError" ? new Error(`no answer within ${timeoutMs} ms`) : error),
    );
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (text.length < MAX_TEXT) text += chunk;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          dateMs: Date.parse(response.headers.date ?? ""),
          text: text.slice(0, MAX_TEXT).trim(),
        }),
      );
    });
    request.end(body);
  });
}
