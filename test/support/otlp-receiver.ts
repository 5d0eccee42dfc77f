import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** One data point as it came over the wire. */
export interface Point {
  readonly name: string;
  readonly unit: string;
  readonly kind: "gauge" | "sum" | "histogram";
  /** 2 is cumulative. */
  readonly temporality: number | undefined;
  readonly monotonic: boolean;
  readonly attributes: Record<string, string>;
  readonly startMs: number;
  /** Value, or count of a histogram. */
  readonly value: number;
  readonly sum: number | undefined;
  readonly bucketCounts: number[];
  readonly bounds: number[];
}

export interface Push {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: Record<string, string>;
  readonly points: Point[];
}

type Field = readonly [number: number, value: Buffer | number];

/** The fields of a protobuf message: varints and fixed64 doubles as they are, the rest as bytes. */
function* fields(bytes: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = tag >>> 3;
    if ((tag & 7) === 0) yield [number, varint()];
    else if ((tag & 7) === 1) {
      yield [number, bytes.subarray(at, at + 8)];
      at += 8;
    } else if ((tag & 7) === 2) {
      const length = varint();
      yield [number, bytes.subarray(at, at + length)];
      at += length;
    } else throw new Error(`Wire type ${tag & 7} is not expected`);
  }
}

const all = (bytes: Buffer, number: number): Buffer[] =>
  [...fields(bytes)].filter(([of]) => of === number).map(([, value]) => value as Buffer);
const one = (bytes: Buffer, number: number): Buffer | undefined => all(bytes, number).at(-1);
const text = (bytes: Buffer, number: number): string => one(bytes, number)?.toString("utf8") ?? "";
const fixed = (bytes: Buffer, number: number): number => Number(one(bytes, number)?.readBigUInt64LE() ?? 0n);
const flag = (bytes: Buffer, number: number): number => Number(one(bytes, number) ?? 0);

function attributes(bytes: Buffer, number: number): Record<string, string> {
  return Object.fromEntries(all(bytes, number).map((pair) => [text(pair, 1), text(one(pair, 2) ?? Buffer.of(), 1)]));
}

function packed<T>(bytes: Buffer, number: number, read: (eight: Buffer) => T): T[] {
  return all(bytes, number).flatMap((run) =>
    Array.from({ length: run.length / 8 }, (_, at) => read(run.subarray(at * 8, at * 8 + 8))),
  );
}

const KINDS = [
  [5, "gauge"],
  [7, "sum"],
  [9, "histogram"],
] as const;

function* pointsOf(metric: Buffer): Generator<Point> {
  for (const [number, kind] of KINDS) {
    const data = one(metric, number);
    if (data === undefined) continue;
    for (const point of all(data, 1)) {
      const histogram = kind === "histogram";
      yield {
        name: text(metric, 1),
        unit: text(metric, 3),
        kind,
        temporality: kind === "gauge" ? undefined : flag(data, 2),
        monotonic: kind === "sum" && flag(data, 3) === 1,
        attributes: attributes(point, histogram ? 9 : 7),
        startMs: fixed(point, 2) / 1e6,
        value: histogram ? fixed(point, 4) : (one(point, 4)?.readDoubleLE() ?? fixed(point, 6)),
        sum: histogram ? one(point, 5)?.readDoubleLE() : undefined,
        bucketCounts: packed(point, 6, (eight) => Number(eight.readBigUInt64LE())).slice(0, histogram ? undefined : 0),
        bounds: histogram ? packed(point, 7, (eight) => eight.readDoubleLE()) : [],
      };
    }
  }
}

/** An OpenTelemetry collector's HTTP door, on loopback: keeps what comes. */
export class OtlpReceiver implements AsyncDisposable {
  readonly pushes: Push[] = [];
  /** Statuses to answer with first, oldest first; then 200. */
  readonly statuses: number[] = [];
  /** Requests that were answered with something else than 200. */
  refused = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const status = this.statuses.shift() ?? 200;
        if (status === 200) this.#keep(request.url ?? "", request.headers, Buffer.concat(chunks));
        else this.refused++;
        response.writeHead(status, { "Content-Type": "application/x-protobuf" });
        response.end();
      });
    });
  }

  static async listen(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All points of all pushes, a later one of the same series in place of an earlier. */
  get series(): Map<string, Point> {
    const points = this.pushes.flatMap((push) => push.points);
    return new Map(points.map((point) => [`${point.name} ${JSON.stringify(point.attributes)}`, point]));
  }

  #keep(path: string, headers: IncomingHttpHeaders, body: Buffer): void {
    const bytes = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    for (const resourceMetrics of all(bytes, 1)) {
      const resource = attributes(one(resourceMetrics, 1) ?? Buffer.of(), 1);
      const metrics = all(resourceMetrics, 2).flatMap((scope) => all(scope, 2));
      this.pushes.push({ path, headers, resource, points: metrics.flatMap((metric) => [...pointsOf(metric)]) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
