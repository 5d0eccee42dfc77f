/** The line that begins one printed event of a run. */
export interface RunHeader {
  readonly type: string;
  readonly event: "start" | "end" | "error";
  /** Crumbs from the root run to this one, `chain:RunnableSequence`, `llm:ChatOpenAI`. */
  readonly crumbs: readonly string[];
  /** As written (`456ms`, `1.23s`); a start has none. */
  readonly elapsed: string | undefined;
}

// langchain_core/tracers/stdout.py (1.0): `[type/event] [crumbs] [elapsed] Exiting Type run with output:`
const HEADER =
  /^\[(chain|llm|tool|retriever|prompt|parser)\/(start|end|error)\] \[(.{1,4000}?)\] (?:\[([^\]\s]{1,40})\] )?(?:Entering [A-Z]\w{0,30} run with input|Exiting [A-Z]\w{0,30} run with output|[A-Z]\w{0,30} run errored with error):$/;

/** Reads a header, colours removed; undefined for any other line. */
export function parseHeader(text: string): RunHeader | undefined {
  if (text.charCodeAt(0) !== 91 || !text.endsWith(":")) return undefined;
  const found = HEADER.exec(text);
  if (found === null) return undefined;
  const [, type = "", event, trail = "", elapsed] = found;
  // releases before 0.1 number the crumbs: `1:chain:LLMChain > 2:llm:OpenAI`
  const crumbs = trail.split(" > ").map((crumb) => crumb.replace(/^\d+:/, ""));
  return { type, event: event as RunHeader["event"], crumbs, elapsed };
}

/** The name of a run without its type. */
export const nameOf = (crumb: string): string => crumb.slice(crumb.indexOf(":") + 1);
