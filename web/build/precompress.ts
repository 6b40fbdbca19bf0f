import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const COMPRESSIBLE = /\.(?:js|css|svg)$/;
/** Below this, compression saves no packet. */
const BYTES_MIN = 1_024;

/** Writes `.br` and `.gz` beside each asset, so that the service sends files as they are. */
export function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const paths = Object.keys(bundle).filter((path) => COMPRESSIBLE.test(path));
      await Promise.all(paths.map((path) => compress(join(dir, path))));
    },
  };
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  if (content.length < BYTES_MIN) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  await Promise.all([
    compressBrotli(content, { params }).then((compressed) => writeFile(`${path}.br`, compressed)),
    compressGzip(content, { level: 9 }).then((compressed) => writeFile(`${path}.gz`, compressed)),
  ]);
}
