import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { osPath, type RawPath } from "./raw-path.ts";
import type { FilePosition } from "./source.ts";

/**
 * The bytes behind `position` of a file that was compressed after it was rotated, read as a stream.
 *
 * @returns Undefined when the archive does not hold, where an earlier read left them, the same first bytes and the same bytes
 * before the offset; nothing is delivered then.
 */
export async function readGzipRest(
  archive: RawPath,
  position: FilePosition,
  deliver: (bytes: Buffer) => void,
): Promise<number | undefined> {
  const { head, marker, offset } = position;
  const file = createReadStream(osPath(archive));
  const unzipped = file.pipe(createGunzip());
  file.on("error", (error) => unzipped.destroy(error));
  let at = 0;
  let delivered = 0;
  let first = Buffer.alloc(0);
  let before = Buffer.alloc(0);
  let known = false;
  try {
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      const end = at + chunk.length;
      if (first.length < head.length) {
        first = Buffer.concat([first, chunk.subarray(0, head.length - first.length)]);
        if (!first.equals(head.subarray(0, first.length))) return undefined;
      }
      if (at < offset)
        before = Buffer.concat([before, chunk.subarray(0, Math.min(chunk.length, offset - at))]).subarray(-64);
      if (end >= offset && !known) {
        if (!before.subarray(before.length - marker.length).equals(marker)) return undefined;
        known = true;
      }
      if (end > offset) {
        const rest = chunk.subarray(Math.max(0, offset - at));
        deliver(rest);
        delivered += rest.length;
      }
      at = end;
    }
    return known ? delivered : undefined;
  } catch {
    // a torn archive: what could be read of it was delivered
    return known ? delivered : undefined;
  } finally {
    file.destroy();
    unzipped.destroy();
  }
}
