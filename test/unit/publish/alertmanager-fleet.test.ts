import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import type { OutgoingAlert } from "../../../src/publish/alertmanager-client.ts";
import { AlertmanagerFleet } from "../../../src/publish/alertmanager-fleet.ts";
import { Alertmanager } from "../../../src/publish/schema.ts";
import { TempFolder } from "../../support/cli.ts";

type Respond = (body: Body) => { status: number; dateMs?: number; hang?: boolean };
type Body = Array<{ labels: Record<string, string>; startsAt: string; endsAt: string; generatorURL?: string }>;

/** Answers as `respond` says; remembers what it was sent. */
class FakeAlertmanager implements AsyncDisposable {
  readonly bodies: Body[] = [];
  readonly requests: IncomingMessage[] = [];
  url = "";
  readonly #server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on("end", () => {
      const body = JSON.parse(text) as Body;
      this.bodies.push(body);
      this.requests.push(request);
      const { status, dateMs = Date.now(), hang = false } = this.#respond(body);
      if (hang) return;
      response.writeHead(status, { Date: new Date(dateMs).toUTCString() });
      response.end("told");
    });
  });
  readonly #respond: Respond;

  private constructor(respond: Respond) {
    this.#respond = respond;
  }

  static async start(respond: Respond = () => ({ status: 200 })): Promise<FakeAlertmanager> {
    const fake = new FakeAlertmanager(respond);
    fake.#server.listen(0, "127.0.0.1");
    await once(fake.#server, "listening");
    fake.url = `http://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`;
    return fake;
  }

  get names(): string[] {
    return this.bodies.flat().map(({ labels }) => labels["alertname"] ?? "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

const alertOf = (name: string): OutgoingAlert => ({
  labels: { alertname: name, severity: "warning" },
  annotations: { summary: "x".repeat(5000) },
  startsAtMs: 1_000_000,
  endsAtMs: 2_000_000,
  generatorUrl: "http://localhost:1/alerts/0",
});

function fleetOf(config: object, warned: string[] = [], nowMs = (): number => Date.now()): AlertmanagerFleet {
  const log = { info: () => {}, warn: (_: unknown, message: string) => warned.push(message) };
  return new AlertmanagerFleet({ config: Alertmanager.parse(config), clock: { nowMs, sleep: async () => {} }, log });
}

test("a path prefix is kept, external labels fill in, both times and the type are set", async () => {
  await using fake = await FakeAlertmanager.start();
  const fleet = fleetOf({ urls: [`${fake.url}/am/`], external_labels: { node: "n1", severity: "other" } });
  fleet.send([alertOf("a")]);
  await fleet.drained();
  const [request] = fake.requests;
  expect(request?.url).toBe("/am/api/v2/alerts");
  expect(request?.headers["content-type"]).toBe("application/json");
  expect(fake.bodies[0]?.[0]).toMatchObject({
    labels: { alertname: "a", severity: "warning", node: "n1" },
    startsAt: "1970-01-01T00:16:40.000Z",
    endsAt: "1970-01-01T00:33:20.000Z",
    generatorURL: "http://localhost:1/alerts/0",
  });
});

test("every instance gets every alert, also while another hangs", async () => {
  await using good = await FakeAlertmanager.start();
  await using hanging = await FakeAlertmanager.start(() => ({ status: 200, hang: true }));
  const warned: string[] = [];
  const fleet = fleetOf({ urls: [hanging.url, good.url, "http://127.0.0.1:1"], timeout: "200ms" }, warned);
  fleet.send([alertOf("a")]);
  fleet.send([alertOf("b")]);
  await fleet.drained();
  expect(good.names).toEqual(["a", "b"]);
  expect(fleet.states.map(({ sent, errors }) => [sent, errors])).toEqual([
    [0, 2],
    [2, 0],
    [0, 2],
  ]);
  expect(fleet.states[0]?.lastError).toBe("no answer within 200 ms");
  expect(warned).toHaveLength(2);
});

test.for([400, 422])("HTTP %d for a batch: the good ones are sent without the bad one", async (status) => {
  await using fake = await FakeAlertmanager.start((body) => ({
    status: body.some(({ labels }) => labels["alertname"] === "bad") ? status : 200,
  }));
  const fleet = fleetOf({ urls: [fake.url] });
  fleet.send(["a", "b", "bad", "c", "d"].map(alertOf));
  await fleet.drained();
  expect(fleet.states[0]).toMatchObject({ sent: 4, errors: 1, lastError: undefined });
});

test("a server that fails is counted and not asked again; the next send is", async () => {
  let status = 503;
  await using fake = await FakeAlertmanager.start(() => ({ status }));
  const fleet = fleetOf({ urls: [fake.url] });
  fleet.send([alertOf("a"), alertOf("b")]);
  await fleet.drained();
  expect(fleet.states[0]).toMatchObject({ sent: 0, errors: 2, lastError: "HTTP 503: told" });
  expect(fake.bodies).toHaveLength(1);
  status = 200;
  fleet.send([alertOf("a"), alertOf("b")]);
  await fleet.drained();
  expect(fleet.states[0]).toMatchObject({ sent: 2, errors: 2, lastError: undefined });
});

test("batches hold at most 256 alerts, the queue 10,000: the oldest go", async () => {
  await using fake = await FakeAlertmanager.start();
  const fleet = fleetOf({ urls: [fake.url] });
  fleet.send(Array.from({ length: 300 }, (_, at) => alertOf(`first-${at}`)));
  fleet.send(Array.from({ length: 10_100 }, (_, at) => alertOf(`then-${at}`)));
  await fleet.drained();
  expect(Math.max(...fake.bodies.map((body) => body.length))).toBe(256);
  expect(fleet.states[0]?.dropped).toBe(144);
  expect(fake.names).toHaveLength(10_256);
  expect(fake.names.at(-1)).toBe("then-10099");
});

test("a clock that is ten minutes slow is warned about, once", async () => {
  await using fake = await FakeAlertmanager.start();
  const warned: string[] = [];
  const fleet = fleetOf({ urls: [fake.url] }, warned, () => Date.now() - 600_000);
  for (let round = 0; round < 3; round++) {
    fleet.send([alertOf("a")]);
    await fleet.drained();
  }
  expect(warned).toEqual(["The clock differs from the Alertmanager's; alerts may end before they arrive"]);
  expect(Math.round((fleet.states[0]?.skewMs ?? 0) / 60_000)).toBe(10);
});

test.for([
  {
    name: "basic",
    config: (file: string) => ({ basic_auth: { username: "u", password_file: file } }),
    header: `Basic ${btoa("u:s3cret")}`,
  },
  { name: "bearer", config: (file: string) => ({ bearer_token_file: file }), header: "Bearer s3cret" },
])("$name credentials come from a file", async ({ config, header }) => {
  using folder = new TempFolder();
  await using fake = await FakeAlertmanager.start();
  const fleet = fleetOf({ urls: [fake.url], ...config(folder.file("secret", "s3cret\n")) });
  fleet.send([alertOf("a")]);
  await fleet.drained();
  expect(fake.requests[0]?.headers.authorization).toBe(header);
});

test("a secret that cannot be read fails the send, not the daemon", async () => {
  await using fake = await FakeAlertmanager.start();
  const fleet = fleetOf({ urls: [fake.url], bearer_token_file: path.join("/nowhere", "token") });
  fleet.send([alertOf("a")]);
  await fleet.drained();
  expect(fleet.states[0]).toMatchObject({ errors: 1 });
});
