/** Two groups of forms are joined while the mean cosine distance between their members is below this. */
export const MAX_DISTANCE = 0.8;
/** Forms that are compared, most frequent first; the others stay alone. */
const MAX_FORMS = 400;

/** A form of unknown failures and how often it was seen. */
export interface UnknownForm {
  readonly id: string;
  /** The message with values masked. */
  readonly form: string;
  readonly count: number;
}

/**
 * Groups forms of failures without a known cause by the words they share: average linkage over TF-IDF vectors.
 * The result depends on the set of forms alone, not on their order.
 *
 * @returns Id of the group of each form: the smallest id of its members.
 */
export function groupUnknowns(forms: readonly UnknownForm[], maxDistance = MAX_DISTANCE): Map<string, string> {
  const chosen = [...forms]
    .sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_FORMS)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const vectors = vectorsOf(chosen.map(({ form }) => form));
  const groups = averageLinkage(vectors, maxDistance);
  const result = new Map(forms.map(({ id }) => [id, id]));
  for (const members of groups) {
    // members are in order of id
    const name = chosen[Math.min(...members)]?.id ?? "";
    for (const member of members) result.set(chosen[member]?.id ?? "", name);
  }
  return result;
}

type Vector = ReadonlyMap<string, number>;

/** Words of a form: letters only, camel case taken apart, so that `RateLimitError` and `rate limit` share words. */
function wordsOf(form: string): string[] {
  return (
    form
      .replaceAll("<*>", " ")
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]{2,}/g) ?? []
  );
}

/** Unit vectors of log-weighted word counts times smoothed inverse document frequency. */
function vectorsOf(forms: readonly string[]): Vector[] {
  const documents = new Map<string, number>();
  const counts = forms.map((form) => {
    const words = new Map<string, number>();
    for (const word of wordsOf(form)) words.set(word, (words.get(word) ?? 0) + 1);
    for (const word of words.keys()) documents.set(word, (documents.get(word) ?? 0) + 1);
    return words;
  });
  return counts.map((words) => {
    const vector = new Map<string, number>();
    let square = 0;
    for (const [word, count] of words) {
      const weight = (1 + Math.log(count)) * (1 + Math.log((1 + forms.length) / (1 + (documents.get(word) ?? 0))));
      vector.set(word, weight);
      square += weight * weight;
    }
    const length = Math.sqrt(square) || 1;
    for (const [word, weight] of vector) vector.set(word, weight / length);
    return vector;
  });
}

function cosine(left: Vector, right: Vector): number {
  const [small, large] = left.size <= right.size ? [left, right] : [right, left];
  let sum = 0;
  for (const [word, weight] of small) sum += weight * (large.get(word) ?? 0);
  return sum;
}

/** Joins the two nearest groups until none are near enough. Distances of joined groups follow Lance and Williams. */
function averageLinkage(vectors: readonly Vector[], maxDistance: number): number[][] {
  const groups: number[][] = vectors.map((_, index) => [index]);
  const distance = vectors.map((left, row) =>
    Float64Array.from(vectors, (right, column) => (row === column ? 0 : 1 - cosine(left, right))),
  );
  const alive = new Set(groups.keys());
  for (;;) {
    let nearest = maxDistance;
    let into = -1;
    let from = -1;
    for (const row of alive) {
      const rowDistances = distance[row] as Float64Array;
      for (const column of alive) {
        if (column <= row) continue;
        const value = rowDistances[column] as number;
        if (value < nearest) [nearest, into, from] = [value, row, column];
      }
    }
    if (into < 0) break;
    const intoSize = groups[into]?.length ?? 0;
    const fromSize = groups[from]?.length ?? 0;
    for (const other of alive) {
      if (other === into || other === from) continue;
      const joined =
        (intoSize * (distance[into]?.[other] ?? 0) + fromSize * (distance[from]?.[other] ?? 0)) / (intoSize + fromSize);
      (distance[into] as Float64Array)[other] = joined;
      (distance[other] as Float64Array)[into] = joined;
    }
    groups[into]?.push(...(groups[from] ?? []));
    alive.delete(from);
  }
  return [...alive].map((index) => groups[index] ?? []);
}
