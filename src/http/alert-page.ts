const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The page at `/alerts/<fingerprint>`: why an alert stands as it does. `explanation` is its part of `/api/v1/alerts`. */
export function alertPage(
  title: string,
  state: string,
  description: string,
  explanation: object,
  promql: string | null,
): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – tokentail</title><style>
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d2530;background:#f6f7f9}
header{background:#14323f;color:#fff;padding:1.2rem 2rem}header h1{margin:0;font-size:1.4rem}header p{margin:.2rem 0 0;color:#b9d0da}
main{max-width:60rem;margin:1.5rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%;background:#fff}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem;border-bottom:1px solid #e6e9ee;font-weight:400}th{color:#5a6675;white-space:nowrap}
td{font-variant-numeric:tabular-nums}td table{background:none}pre{background:#fff;padding:1rem;overflow:auto}
</style></head><body>
<header><h1>${escapeHtml(title)}</h1><p>${escapeHtml(state)}</p></header>
<main><p>${escapeHtml(description)}</p>${table(explanation)}${promql === null ? "" : `<h2>The same in PromQL</h2><pre>${escapeHtml(promql)}</pre>`}
<p><a href="/">Overview</a> · <a href="/api/v1/alerts">All alerts (JSON)</a></p></main>
</body></html>
`;
}

function table(value: object): string {
  const rows = Object.entries(value)
    .filter(([, part]) => part !== null && part !== undefined)
    .map(([name, part]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${cell(part)}</td></tr>`);
  return `<table>${rows.join("")}</table>`;
}

function cell(value: unknown): string {
  if (Array.isArray(value)) return value.map(cell).join("");
  return typeof value === "object" && value !== null ? table(value) : escapeHtml(String(value));
}
