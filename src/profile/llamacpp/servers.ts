import { putBounded } from "../../core/bounded-map.ts";
import { type FailureBlockState, newFailureBlock } from "../failure-block.ts";
import type { BodyEcho } from "./body-echo.ts";

/** What is known of one server of the stream: the only one, or a child of a router. */
export interface ServerState {
  model: string | undefined;
  /** Task of the last header whose figures follow on bare lines. */
  header: { readonly key: string; readonly slot: string } | undefined;
  /** It prints requests or answers raw, so that their lines may pass for its own. */
  echoes: boolean;
  body: BodyEcho | undefined;
  /** Lines of the chat template's example that may still follow, of a start-up record that ends with a lone quote. */
  templateLines: number;
  /** Bare lines of a crash. */
  readonly block: FailureBlockState;
  grammar: GrammarError | undefined;
}

/** Bare lines about a grammar that does not parse. They are a record of their own unless the task fails of it. */
export interface GrammarError {
  readonly timeMs: number;
  readonly lines: string[];
  /** Records of the server since then: the first ends the bare lines. */
  records: number;
}

const MAX_SERVERS = 64;

/** The server behind a port; `""` is the one whose lines carry none. */
export function serverOf(servers: Map<string, ServerState>, port: string): ServerState {
  let server = servers.get(port);
  if (server === undefined) {
    server = {
      model: undefined,
      header: undefined,
      echoes: false,
      body: undefined,
      templateLines: 0,
      block: newFailureBlock(),
      grammar: undefined,
    };
    putBounded(servers, port, server, MAX_SERVERS);
  }
  return server;
}

const PART = /-\d{5}-of-\d{5}$/;

/** The name of a model file, without folders, ending and part number; undefined for a blob that is named by its digest. */
export function modelOfPath(path: string): string | undefined {
  const name = path
    .slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
    .replace(/\.gguf$/i, "")
    .replace(PART, "");
  return name === "" || name.startsWith("sha256") ? undefined : name;
}
