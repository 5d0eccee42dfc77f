import { UserError } from "../core/user-error.ts";
import type { Form, RuleOptions } from "../rule/options.ts";
import { GENERATED, renderRules } from "../rule/render.ts";
import { ruleFiles } from "../rule/rule-files.ts";

/** Rule files of Prometheus by their names. */
export function prometheusFiles(options: RuleOptions, form: Form): Map<string, string> {
  return new Map(ruleFiles(options, form).map((file) => [`${file.name}.yaml`, renderRules(file, options)]));
}

export const isRuleFileOfOurs = (file: string, text: string): boolean =>
  /^tokentail-.*\.yaml$/.test(file) && text.startsWith(`# ${GENERATED}`);

/** Longest wait for Prometheus to reload. */
const RELOAD_TIMEOUT_MS = 30_000;

/**
 * Asks a Prometheus to read its rules anew.
 *
 * @param url Its address; `/-/reload` is added unless it is there.
 * @throws {UserError} Exit code 1, with what to do about it.
 */
export async function reloadPrometheus(url: string): Promise<void> {
  const target = url.endsWith("/-/reload") ? url : `${url.replace(/\/+$/, "")}/-/reload`;
  let response: Response;
  try {
    response = await fetch(target, { method: "POST", signal: AbortSignal.timeout(RELOAD_TIMEOUT_MS) });
  } catch (cause) {
    throw new UserError(`Cannot reload Prometheus at ${target}: ${causeOf(cause)}`, { cause });
  }
  if (response.ok) return;
  const said = (await response.text()).trim().slice(0, 300);
  const hint =
    response.status === 403 || response.status === 405
      ? "; start Prometheus with --web.enable-lifecycle, or send it SIGHUP"
      : "";
  throw new UserError(`Prometheus at ${target} did not reload: ${response.status} ${said}${hint}`);
}

/** `fetch` hides the reason of a failed connection in the error's cause. */
export function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || ((cause as NodeJS.ErrnoException).code ?? message) : message;
}
