import { putBounded } from "../core/bounded-map.ts";
import type { FailureRecord } from "../model/record.ts";
import { CATALOGUE } from "./catalogue.ts";
import { type ErrorBlock, readErrorBlock, searchableText } from "./error-block.ts";
import type { Cause } from "./evidence.ts";
import { EvidenceIndex, type Finding } from "./evidence-index.ts";
import { formId, formOf } from "./message-form.ts";
import { readSlots, type Slots } from "./slots.ts";

/** The cause of a failure that no evidence of the catalogue fits. */
export const UNKNOWN_CAUSE = "unknown";

/** A cause needs this much evidence; below it the failure stays unknown. */
const ENOUGH = 5;
/** From this much on the cause is beyond doubt. */
const CERTAIN = 9;
/** Of the evidence beyond the strongest piece this share counts, so that many weak words do not outvote one clear phrase. */
const COMPANY_SHARE = 0.2;
const MAX_COMPANY = 3;
/** Evidence in the deciding message counts in full, elsewhere in the block this much. */
const ELSEWHERE = 0.85;
/** Verdicts kept; the oldest is dropped and worked out again when it is met again. */
const MAX_VERDICTS = 4096;
/** Longer texts are worked out each time: they seldom come twice, and would hold the memory. */
const MAX_KEY_CHARS = 2_000;

/** What the log's own fields say beside the text. */
export interface FailureHints {
  readonly httpStatus?: number | undefined;
  /** Exception or error class as printed. */
  readonly errorClass?: string | undefined;
}

export interface Classified {
  readonly cause: string;
  /** `certain` = named beyond doubt, `likely` = enough evidence, `none` = unknown. */
  readonly confidence: "certain" | "likely" | "none";
  /** Evidence for the cause, strongest first: whose words, and which. */
  readonly evidence: readonly Finding[];
  /** The message that decided. */
  readonly deciding: string;
  /** Identity of the deciding message's form: the same on every machine, whatever was seen before. */
  readonly templateId: string;
  readonly slots: Slots;
  readonly block: ErrorBlock;
}

interface Verdict {
  readonly cause: string;
  readonly score: number;
  readonly evidence: readonly Finding[];
  /** Index of the message that holds the strongest evidence. */
  readonly message: number;
}

const UNKNOWN: Verdict = { cause: UNKNOWN_CAUSE, score: 0, evidence: [], message: 0 };
/**
 * What changes between two failures of one kind: ids, times, figures. Numbers of three digits stay, they may be a status
 * or a fault's code, and so does the code by which MCP tells a timeout.
 */
const VARIABLE = /[0-9a-f]{8,}|\d+\.\d+|\d\d:\d\d:\d\d|(?<!\d)(?!32001\b)\d{4,}/g;

/** Names causes by the evidence of a catalogue. Remembers verdicts by the form of the text; what it says never depends on them. */
export class FailureClassifier {
  readonly #index: EvidenceIndex;
  readonly #verdicts = new Map<string, Verdict>();

  constructor(causes: readonly Cause[]) {
    this.#index = new EvidenceIndex(causes);
  }

  causeOf(raw: string, hints: FailureHints = {}): string {
    return this.#verdict(readErrorBlock(raw), hints).cause;
  }

  classify(raw: string, hints: FailureHints = {}): Classified {
    const block = readErrorBlock(raw);
    const { cause, score, evidence, message } = this.#verdict(block, hints);
    const deciding = block.messages[message] ?? block.deciding;
    return {
      cause,
      confidence: score >= CERTAIN ? "certain" : score > 0 ? "likely" : "none",
      evidence,
      deciding,
      templateId: formId(formOf(deciding)),
      slots: readSlots(block, hints),
      block,
    };
  }

  #verdict(block: ErrorBlock, hints: FailureHints): Verdict {
    let text = searchableText(block);
    if (hints.errorClass !== undefined) text += `\n${hints.errorClass.toLowerCase()}`;
    const key = text.replace(VARIABLE, "#");
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#weigh(text, block);
      if (key.length <= MAX_KEY_CHARS) putBounded(this.#verdicts, key, verdict, MAX_VERDICTS);
    }
    return verdict;
  }

  #weigh(text: string, block: ErrorBlock): Verdict {
    const byCause = new Map<string, Finding[]>();
    for (const finding of this.#index.find(text)) {
      const list = byCause.get(finding.cause);
      if (list === undefined) byCause.set(finding.cause, [finding]);
      else list.push(finding);
    }
    const decidingEnd = block.deciding.length;
    let best = UNKNOWN;
    for (const [cause, findings] of byCause) {
      const weighed = findings
        .map((finding) => ({ finding, weight: finding.weight * (finding.at <= decidingEnd ? 1 : ELSEWHERE) }))
        .sort((a, b) => b.weight - a.weight || a.finding.at - b.finding.at);
      const [strongest] = weighed;
      if (strongest === undefined) continue;
      const company = weighed.slice(1).reduce((sum, { weight }) => sum + weight, 0) * COMPANY_SHARE;
      const score = strongest.weight + Math.min(company, MAX_COMPANY);
      // equal scores: the name decides, so that the order of the words in the text does not
      if (score < ENOUGH || score < best.score || (score === best.score && cause > best.cause)) continue;
      best = {
        cause,
        score,
        evidence: weighed.map(({ finding }) => finding),
        message: messageAt(block, strongest.finding.at),
      };
    }
    return best;
  }
}

/** Index of the message that covers a position of the searchable text (lengths differ by undone escapes at most). */
function messageAt(block: ErrorBlock, at: number): number {
  let end = 0;
  for (const [index, message] of block.messages.entries()) {
    end += message.length + 1;
    if (at < end) return index;
  }
  return 0;
}

/** Built at the first failure: compiling the catalogue takes longer than reading a short log without one. */
let classifier: FailureClassifier | undefined;
const shared = (): FailureClassifier => (classifier ??= new FailureClassifier(CATALOGUE));

/** Names the cause of a failure: what the format itself decides, else what the catalogue finds in its text. */
export function causeOf(record: FailureRecord): string {
  return record.cause ?? shared().causeOf(record.text, record);
}

/** Takes a raw failure block apart, names its cause and says by which evidence. */
export function classifyFailure(raw: string, hints: FailureHints = {}): Classified {
  return shared().classify(raw, hints);
}
