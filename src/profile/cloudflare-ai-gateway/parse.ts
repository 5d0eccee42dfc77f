import { parseIso, UTC } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import { figureOf, firstText, objectOrText, textOf } from "../gateway/field.ts";
import { causeOfStatus, outcomeOfStatus } from "../gateway/status.ts";
import type { Parser, ParserContext } from "../profile.ts";

/** Keys of the user's own `metadata` that name whose request it was. */
const TENANT = ["tenant", "tenant_id", "team", "team_id", "org", "org_id", "organization", "customer", "customer_id"];

/** One request a line; nothing is remembered. */
export class CloudflareParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const object = line.json;
    if (object === undefined) return;
    const { emit } = this.#context;
    const record = this.#request(object, line.timeMs);
    const count = (name: string): void => emit({ kind: "count", timeMs: record.timeMs, name, by: 1 });
    if (object["cached"] === true) count("cache_hits");
    const step = figureOf(object["step"], this.#context) ?? 0;
    if (step > 0) {
      count("fallbacks");
      if (record.outcome === "ok") count("fallbacks_succeeded");
    }
    emit(record);
  }

  #request(object: JsonObject, wrapperMs: number): RequestRecord {
    const figure = (key: string): number | undefined => figureOf(object[key], this.#context);
    const record = new RequestRecord();
    const created = textOf(object["created_at"]);
    record.timeMs = created === undefined ? wrapperMs : parseIso(created, 0, UTC).timeMs;
    record.id = textOf(object["id"]);
    record.dedupeKey = record.id;
    record.model = textOf(object["model"]);
    record.route = textOf(object["path"]);
    record.tenant = firstText(objectOrText(object["metadata"]) ?? {}, TENANT);
    const status = figure("status_code");
    record.httpStatus = status;
    record.outcome = status === undefined ? "ok" : outcomeOfStatus(status);
    if (object["success"] === false && record.outcome === "ok") record.outcome = "error";
    record.latencies.set(Latency.e2e, figure("duration"));
    // a failed request prints zeros for what it does not know
    const known = (value: number | undefined): number | undefined =>
      value === 0 && record.outcome !== "ok" ? undefined : value;
    record.tokensIn = known(figure("tokens_in"));
    record.tokensOut = known(figure("tokens_out"));
    record.costUsd = known(figure("cost"));
    if (record.outcome !== "ok") {
      const { timeMs, model, tenant, route } = record;
      record.failure = {
        kind: "failure",
        timeMs,
        text: `HTTP ${status ?? "error"} from ${textOf(object["provider"]) ?? "provider"}`,
        cause: status === undefined ? undefined : causeOfStatus(status),
        httpStatus: status,
        model,
        tenant,
        route,
        requestId: record.id,
      };
    }
    return record;
  }
}
