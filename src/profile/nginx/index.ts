import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { startsCombined } from "./combined.ts";
import { startsError } from "./error-log.ts";
import { objectIn, VARIABLES } from "./json.ts";
import { NginxParser } from "./parse.ts";

/** nginx in front of an OpenAI-compatible API: access log as JSON, combined or ingress-nginx's, and error log. */
export const nginx: Profile = {
  name: "nginx",
  title: "nginx",
  upstream: "output of nginx 1.22.1; ngx_http_log_module, ngx_http_upstream_module; ingress-nginx log-format-upstream",
  jsonKeys: VARIABLES,
  // a year, an address, `unix:` for a socket, or an object whose escapes are no JSON
  firstCharacters: "{0123456789abcdefABCDEF:[u-",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["HTTP status", "e2e", "ttfb", "retries", "errors"],
  cannotTell: [
    "Model, tokens and cost.",
    "TTFT: headers may go out before the first token.",
    "A client that leaves in mid-stream: the line says 200.",
    "Any duration in the combined format.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    return text.charCodeAt(0) === 123 ? objectIn(line) !== undefined : startsError(text) || startsCombined(text);
  },
  open: (context) => new NginxParser(context),
};
