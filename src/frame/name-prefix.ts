/** Prefixes that name a container in front of a line. */
export interface NamePrefix {
  readonly contentAt: number;
  readonly origin: string;
}

const COMPOSE_NUMBERED = /^([a-zA-Z][a-zA-Z0-9_.-]{0,127}[-_][0-9]{1,4}) {1,128}\|(?: |$)/;
const COMPOSE_NAMED = /^([a-z][a-z0-9_-]{0,127}) {2,128}\|(?: |$)/;
const LEVEL = /^(?:trace|debug|info|notice|warn|warning|error|err|critical|fatal|panic)$/;

/**
 * `service-1  | line` of `docker compose`: the name, blanks up to the longest name and at least one more (two from v2 on),
 * `| `. A name without a number (`container_name:`) needs the second blank and must be no level of some logger.
 *
 * @see docker/compose `cmd/formatter/logs.go` v2.39, `compose/cli/log_printer.py` 1.29
 */
export function readComposePrefix(text: string): NamePrefix | undefined {
  const numbered = COMPOSE_NUMBERED.exec(text);
  if (numbered !== null) return { contentAt: numbered[0].length, origin: numbered[1] as string };
  const named = COMPOSE_NAMED.exec(text);
  if (named === null || LEVEL.test(named[1] as string)) return undefined;
  return { contentAt: named[0].length, origin: named[1] as string };
}

/** Index of the blank behind the first word, or -1: the look before any decoding. */
export function nameEnd(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + 256);
  let at = start;
  while (at < limit && bytes[at] !== 32) at++;
  return at === limit ? -1 : at;
}

/** True when a `|` stands behind the blanks that begin at `at`. */
export function barFollows(bytes: Buffer, at: number, end: number): boolean {
  const limit = Math.min(end, at + 130);
  let next = at;
  while (next < limit && bytes[next] === 32) next++;
  return next < limit && bytes[next] === 124;
}

const KUBECTL = /^\[pod\/([a-z0-9.-]{1,253})\/([a-z0-9-]{1,63})\] /;

/** `[pod/NAME/CONTAINER] line` of `kubectl logs --prefix`. */
export function readKubectlPrefix(text: string): NamePrefix | undefined {
  const found = KUBECTL.exec(text);
  return found === null ? undefined : { contentAt: found[0].length, origin: found[2] as string };
}

// the alphabet of Kubernetes' generated names, apimachinery `pkg/util/rand/rand.go`
const STERN =
  /^[a-z0-9][a-z0-9.-]{0,240}-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5} (?:› )?([a-z0-9][a-z0-9-]{0,62}) /;

/** `pod container line` of `stern`, for pods of a Deployment: only their generated names are told from ordinary words. */
export function readSternPrefix(text: string): NamePrefix | undefined {
  const found = STERN.exec(text);
  return found === null ? undefined : { contentAt: found[0].length, origin: found[1] as string };
}

const DESKTOP =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)(?: |$))/;

/** Length of the local time that Docker Desktop puts in front of a line that has a time with a zone itself; 0 if none. */
export function desktopTimeLength(text: string): number {
  return DESKTOP.exec(text)?.[0].length ?? 0;
}
