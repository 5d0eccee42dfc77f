/** What a line is about. */
export const Subject = {
  none: 0,
  /** The client's request as a whole. */
  request: 1,
  /** `query`, `answer`: a request only in the company of its figures. */
  weakRequest: 2,
  /** One call of a model, inside a request or as the request itself. */
  llm: 3,
  retrieval: 4,
  rerank: 5,
  embedding: 6,
  tool: 7,
  guardrail: 8,
  security: 9,
  /** Probes, start-up, loading: never a request by status or duration. */
  other: 10,
  /** Jobs and stores, unless something more telling stands beside them. */
  background: 11,
} as const;

/** What happened to it. */
export const Phase = {
  none: 0,
  start: 1,
  /** Something on the way: a chunk, a progress report. Figures so far, not in the end. */
  chunk: 2,
  firstToken: 3,
  ok: 4,
  failed: 5,
  timeout: 6,
  blocked: 7,
  cancelled: 8,
  retry: 9,
  fallback: 10,
} as const;

export interface Told {
  readonly subject: number;
  readonly phase: number;
  /** `request` or `http` stands in it: of two subjects the request is meant when the line has a status. */
  readonly ofRequest: boolean;
  /** Documents of one tenant were given to another. */
  readonly leak: boolean;
  /** Nothing but words of these tables: it says no reason. */
  readonly bare: boolean;
}

const words = (list: string): readonly string[] => list.split(/\s+/);

const SUBJECTS = new Map<string, number>([
  ...words("request requests http chat conversation turn completion completions").map(
    (w) => [w, Subject.request] as const,
  ),
  ...words("query question answer reply ask rag").map((w) => [w, Subject.weakRequest] as const),
  ...words("llm model inference generation generate upstream provider openai anthropic").map(
    (w) => [w, Subject.llm] as const,
  ),
  ...words("retrieval retrieve retrieved retriever search vector knn ann similarity").map(
    (w) => [w, Subject.retrieval] as const,
  ),
  ...words("rerank reranker reranking reranked").map((w) => [w, Subject.rerank] as const),
  ...words("embed embedding embeddings embedder embedded").map((w) => [w, Subject.embedding] as const),
  ...words("tool tools mcp plugin function").map((w) => [w, Subject.tool] as const),
  ...words("guardrail guardrails guard moderation safety").map((w) => [w, Subject.guardrail] as const),
  ...words("security leak leakage leaked").map((w) => [w, Subject.security] as const),
  ...words(
    `health healthcheck healthz liveness readiness probe heartbeat startup shutdown boot load loaded loading warmup warm
    download downloaded migration migrations backup`,
  ).map((w) => [w, Subject.other] as const),
  ...words(
    `db database sql redis postgres mongo cache cached job jobs worker cron scheduler ingest ingestion ingested indexing
    chunking gc metrics config login`,
  ).map((w) => [w, Subject.background] as const),
]);
/** Of several subjects in one text, the first of these is meant. */
const STRENGTH: readonly number[] = [
  Subject.guardrail,
  Subject.security,
  Subject.rerank,
  Subject.embedding,
  Subject.tool,
  Subject.retrieval,
  Subject.other,
  Subject.llm,
  Subject.background,
  Subject.request,
  Subject.weakRequest,
];

const PHASES = new Map<string, number>([
  ...words(
    "start started starting begin began begun received incoming accepted processing dispatched queued enqueued created",
  ).map((w) => [w, Phase.start] as const),
  ...words("chunk chunks delta progress partial streaming").map((w) => [w, Phase.chunk] as const),
  ...words(
    `completed complete done finish finished end ended success successful succeeded ok served handled processed responded result closed`,
  ).map((w) => [w, Phase.ok] as const),
  ...words("fail failed failure fails error errored exception crashed rejected denied refused unsuccessful").map(
    (w) => [w, Phase.failed] as const,
  ),
  ...words("timeout timedout timeouts").map((w) => [w, Phase.timeout] as const),
  ...words("blocked flagged intervened violation triggered").map((w) => [w, Phase.blocked] as const),
  ...words("cancelled canceled cancel aborted abort disconnected disconnect").map((w) => [w, Phase.cancelled] as const),
  ...words("retry retrying retried").map((w) => [w, Phase.retry] as const),
  ...words("fallback failover").map((w) => [w, Phase.fallback] as const),
]);
/** Of several phases in one text, the first of these is meant. `failed` yields to `ok`: level and status tell them apart. */
const ORDER: readonly number[] = [
  Phase.retry,
  Phase.fallback,
  Phase.cancelled,
  Phase.timeout,
  Phase.blocked,
  Phase.ok,
  Phase.failed,
  Phase.start,
  Phase.chunk,
];
const FILLER = new Set(
  words("call calls api the a an of in for with to has was is by and on from user client v1 cross"),
);

const MAX_CHARS = 80;
const MAX_WORDS = 10;

const bit = (index: number): number => 1 << index;

/** Words that mean something together. */
const Hint = {
  first: 1,
  token: 2,
  timed: 4,
  out: 8,
  giving: 16,
  up: 32,
  cross: 64,
  tenant: 128,
  leak: 256,
  refused: 512,
  response: 1024,
} as const;

interface Word {
  readonly text: string;
  readonly hash: number;
  subjects: number;
  phases: number;
  hints: number;
}

/** All tables in one, open-addressed by a hash that the scan computes on its way: no word of prose is ever copied. */
const SLOTS = 2048;
const WORDS: Array<Word | undefined> = Array.from({ length: SLOTS }, () => undefined);

const mix = (hash: number, code: number): number => (Math.imul(hash, 31) + code) | 0;

function wordOf(text: string): Word {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = mix(hash, text.charCodeAt(at));
  let slot = hash & (SLOTS - 1);
  for (let known = WORDS[slot]; known !== undefined; known = WORDS[slot]) {
    if (known.text === text) return known;
    slot = (slot + 1) & (SLOTS - 1);
  }
  return (WORDS[slot] = { text, hash, subjects: 0, phases: 0, hints: 0 });
}

for (const [word, subject] of SUBJECTS) wordOf(word).subjects |= bit(subject);
for (const [word, phase] of PHASES) wordOf(word).phases |= bit(phase);
for (const word of FILLER) wordOf(word);
for (const [hint, list] of Object.entries({
  first: "first",
  token: "token chunk",
  timed: "timed",
  out: "out",
  giving: "giving",
  up: "up",
  cross: "cross",
  tenant: "tenant tenants",
  leak: "leak leakage leaked",
  refused: "denied blocked",
  response: "response",
}) as Array<[keyof typeof Hint, string]>) {
  for (const word of words(list)) wordOf(word).hints |= Hint[hint];
}

/** The word at `start`…`end`, in any case; undefined when no table has it. */
function lookUp(text: string, start: number, end: number, hash: number): Word | undefined {
  let slot = hash & (SLOTS - 1);
  for (let word = WORDS[slot]; word !== undefined; word = WORDS[slot]) {
    if (word.hash === hash && word.text.length === end - start) {
      if (text.startsWith(word.text, start) || text.slice(start, end).toLowerCase() === word.text) return word;
    }
    slot = (slot + 1) & (SLOTS - 1);
  }
  return undefined;
}

const first = (order: readonly number[], bits: number): number => {
  for (const candidate of order) if ((bits & bit(candidate)) !== 0) return candidate;
  return 0;
};
const all = (hints: number, wanted: number): boolean => (hints & wanted) === wanted;

/** Classes of ASCII: what parts words, small letters and digits, capitals. All else parts words. */
const LOWER = 1;
const UPPER = 2;
const CLASSES = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) CLASSES[code] = LOWER;
  else if (code >= 65 && code <= 90) CLASSES[code] = UPPER;
}
const classAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 128 ? (CLASSES[code] as number) : 0;
};

function read(text: string): Told {
  const { length } = text;
  let subjects = 0;
  let phases = 0;
  let hints = 0;
  let count = 0;
  let known = 0;
  let at = 0;
  while (at < length && count < MAX_WORDS) {
    let kind = classAt(text, at);
    if (kind === 0) {
      at++;
      continue;
    }
    const start = at;
    let hash = 0;
    let before = kind;
    do {
      hash = mix(hash, text.charCodeAt(at) | 32);
      at++;
      before = kind;
      kind = classAt(text, at);
      // a capital begins a word of its own: `llmCall`, `LLMCall`
    } while (
      kind !== 0 &&
      !(kind === UPPER && (before === LOWER || (before === UPPER && classAt(text, at + 1) === LOWER)))
    );
    count++;
    const word = lookUp(text, start, at, hash);
    if (word === undefined) continue;
    known++;
    subjects |= word.subjects;
    phases |= word.phases;
    hints |= word.hints;
  }
  const bare = count > 0 && known === count && count < MAX_WORDS && length <= MAX_CHARS;
  let phase = first(ORDER, phases);
  if (phase === Phase.retry && (phases & bit(Phase.ok)) !== 0) phase = Phase.ok;
  // a response that was received is an end
  if ((hints & Hint.response) !== 0 && (phase === Phase.none || phase === Phase.start)) phase = Phase.ok;
  if (all(hints, Hint.first | Hint.token)) phase = Phase.firstToken;
  else if (all(hints, Hint.timed | Hint.out)) phase = Phase.timeout;
  else if (all(hints, Hint.giving | Hint.up)) phase = Phase.failed;
  let subject = first(STRENGTH, subjects);
  // a chunk of the answer is the model's, however it is called
  if (subject === Subject.none && (phase === Phase.chunk || phase === Phase.firstToken)) subject = Subject.llm;
  const crossed = all(hints, Hint.cross | Hint.tenant);
  const leaked = all(hints, Hint.leak | Hint.tenant);
  return {
    subject,
    phase,
    ofRequest: (subjects & bit(Subject.request)) !== 0,
    leak: (crossed || leaked) && (hints & Hint.refused) === 0,
    bare,
  };
}

const NOTHING: Told = { subject: Subject.none, phase: Phase.none, ofRequest: false, leak: false, bare: false };
const MAX_TEXTS = 1024;

function hasDigit(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) return true;
  }
  return false;
}

/**
 * Reads event names and short messages: `llm.completed`, `LLMCallFailed`, `rerank done`, `request failed: …`. Any words
 * in any order; subjects and phases are tables, because no two applications name them alike.
 */
export class Vocabulary {
  /** Texts read before; a cache, not a memory. */
  readonly #known = new Map<string, Told>();
  #last = "";
  #lastTold = NOTHING;

  tell(text: string | undefined): Told {
    if (text === undefined || text === "") return NOTHING;
    if (text === this.#last) return this.#lastTold;
    // a text that long differs from line to line; its beginning may not
    const head = text.length > MAX_CHARS ? text.slice(0, MAX_CHARS + 1) : text;
    // a text with a number in it (an id, a count) will not come again
    if (hasDigit(head)) return read(head);
    let told = this.#known.get(head);
    if (told === undefined) {
      told = read(head);
      if (this.#known.size >= MAX_TEXTS) this.#known.clear();
      this.#known.set(head, told);
    }
    this.#last = text;
    this.#lastTold = told;
    return told;
  }
}
