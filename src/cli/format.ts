/** Figures as people read them. */

/** `1,234`, `1.23 M`, `4.5 G`. */
export function count(value: number): string {
  if (value < 1_000_000) return Math.round(value).toLocaleString("en");
  const units = ["M", "G", "T", "P"];
  let scaled = value / 1_000_000;
  let unit = 0;
  while (scaled >= 1000 && unit < units.length - 1) {
    scaled /= 1000;
    unit++;
  }
  return `${scaled.toPrecision(3)} ${units[unit]}`;
}

/** `250 µs`, `12.3 ms`, `4.56 s`, `2 m 05 s`, `1 h 02 m`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms === 0) return "0 ms";
  if (ms < 0.9995) return `${trim((ms * 1000).toPrecision(3))} µs`;
  if (ms < 999.5) return `${trim(ms.toPrecision(3))} ms`;
  if (ms < 59_950) return `${trim((ms / 1000).toPrecision(3))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
  return `${(minutes / 1440).toFixed(1)} d`;
}

/** `512 B`, `3.4 MiB`. */
export function byteSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let scaled = bytes;
  let unit = 0;
  while (scaled >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return unit === 0 ? `${bytes} B` : `${scaled.toPrecision(3)} ${units[unit]}`;
}

export const percent = (share: number): string => `${trim((share * 100).toFixed(share > 0.1 ? 1 : 2))} %`;

/** `2026-05-12 09:14:03 UTC`. */
export const moment = (timeMs: number): string =>
  `${new Date(timeMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** One line of at most `width` characters, control characters made visible. */
export function oneLine(text: string, width: number): string {
  // oxlint-disable-next-line no-control-regex
  const flat = text
    .replace(/\s*\n\s*/g, " ⏎ ")
    .replace(/[\u0000-\u001f\u007f]/g, "\ufffd")
    .trim();
  return flat.length > width ? `${flat.slice(0, Math.max(1, width - 1))}…` : flat;
}

const BLOCKS = " ▁▂▃▄▅▆▇█";

/**
 * A histogram in one line: `columns` bins of equal ratio between the smallest and the largest value.
 *
 * @param bins Values (> 0 counts; 0 falls in the first bin) with weights.
 */
export function sparkline(
  bins: Iterable<readonly [value: number, weight: number]>,
  min: number,
  max: number,
  columns: number,
): string {
  const low = Math.log(Math.max(min, 1e-6));
  const span = Math.log(Math.max(max, 1e-6)) - low;
  const weights = new Float64Array(columns);
  for (const [value, weight] of bins) {
    const at = span <= 0 ? 0 : Math.floor(((Math.log(Math.max(value, 1e-6)) - low) / span) * columns);
    const index = Math.min(columns - 1, Math.max(0, at));
    weights[index] = (weights[index] as number) + weight;
  }
  const top = Math.max(...weights);
  return [...weights].map((weight) => BLOCKS[weight === 0 ? 0 : Math.max(1, Math.round((weight / top) * 8))]).join("");
}

function trim(figure: string): string {
  return figure.includes(".") && !figure.includes("e")
    ? figure.replace(/\.?0+$/, "")
    : Number(figure).toLocaleString("en");
}

const pad = (figure: number): string => String(figure).padStart(2, "0");
