/** Agreement of a clustering with labels. */
export interface ClusterScores {
  /** Adjusted Rand index. */
  readonly ari: number;
  /** Adjusted mutual information, arithmetic mean. */
  readonly ami: number;
  readonly b3F1: number;
}

const pairs = (n: number): number => (n * (n - 1)) / 2;

/** Scores as scikit-learn defines them. */
export function clusterScores(truth: readonly string[], found: readonly string[]): ClusterScores {
  const size = truth.length;
  const rows = tally(truth);
  const columns = tally(found);
  const cells = tally(truth.map((label, index) => JSON.stringify([label, found[index]])));
  let samePairs = 0;
  let mutual = 0;
  let precision = 0;
  let recall = 0;
  for (const [key, count] of cells) {
    const [label, cluster] = JSON.parse(key) as [string, string];
    const row = rows.get(label) ?? 0;
    const column = columns.get(cluster) ?? 0;
    samePairs += pairs(count);
    mutual += (count / size) * Math.log((size * count) / (row * column));
    precision += count ** 2 / column / size;
    recall += count ** 2 / row / size;
  }
  const rowPairs = sum([...rows.values()].map(pairs));
  const columnPairs = sum([...columns.values()].map(pairs));
  const expectedPairs = (rowPairs * columnPairs) / pairs(size);
  const expected = expectedMutual([...rows.values()], [...columns.values()], size);
  const mean = (entropy([...rows.values()], size) + entropy([...columns.values()], size)) / 2;
  return {
    ari: (samePairs - expectedPairs) / ((rowPairs + columnPairs) / 2 - expectedPairs),
    ami: (mutual - expected) / (mean - expected),
    b3F1: (2 * precision * recall) / (precision + recall),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function tally(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function entropy(counts: readonly number[], size: number): number {
  return -sum(counts.map((count) => (count / size) * Math.log(count / size)));
}

/** Mutual information that two clusterings of these sizes have by chance. */
function expectedMutual(rows: readonly number[], columns: readonly number[], size: number): number {
  const logFactorial = [0];
  for (let n = 1; n <= size; n++) logFactorial.push((logFactorial[n - 1] ?? 0) + Math.log(n));
  const lf = (n: number): number => logFactorial[n] ?? 0;
  let total = 0;
  for (const row of rows) {
    for (const column of columns) {
      for (let both = Math.max(1, row + column - size); both <= Math.min(row, column); both++) {
        const logP =
          lf(row) +
          lf(column) +
          lf(size - row) +
          lf(size - column) -
          lf(size) -
          lf(both) -
          lf(row - both) -
          lf(column - both) -
          lf(size - row - column + both);
        total += (both / size) * Math.log((size * both) / (row * column)) * Math.exp(logP);
      }
    }
  }
  return total;
}
