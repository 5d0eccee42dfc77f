/** What the landing page tells at a glance. */
export interface LandingFigures {
  readonly version: string;
  readonly startedMs: number;
  readonly rows: ReadonlyArray<readonly [name: string, value: string]>;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The page at `/`: what runs here, what it has seen, where to go. */
export function landingPage(figures: LandingFigures): string {
  const rows = figures.rows
    .map(([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`)
    .join("");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>tokentail</title><style>
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d2530;background:#f6f7f9}
header{background:#14323f;color:#fff;padding:1.2rem 2rem}header h1{margin:0;font-size:1.4rem}header p{margin:.2rem 0 0;color:#b9d0da}
main{max-width:46rem;margin:1.5rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%;background:#fff;border-radius:6px;overflow:hidden}
th,td{text-align:left;padding:.5rem .8rem;border-bottom:1px solid #e6e9ee;font-weight:400}th{color:#5a6675;width:40%}td{font-variant-numeric:tabular-nums}
nav a{display:inline-block;margin:1rem .6rem 0 0;padding:.4rem .8rem;border-radius:6px;background:#14323f;color:#fff;text-decoration:none}
</style></head><body>
<header><h1>tokentail</h1><p>version ${escapeHtml(figures.version)}, running since ${new Date(figures.startedMs).toISOString()}</p></header>
<main><table>${rows}</table>
<nav><a href="/metrics">Metrics</a><a href="/api/v1/status">Status (JSON)</a><a href="/-/ready">Ready</a></nav></main>
</body></html>
`;
}
