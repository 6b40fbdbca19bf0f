import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Stores batches on disk that together are too large for memory. They can be read repeatedly. */
export type Spool<T> = {
  add(batch: readonly T[]): Promise<void>;
  batches(): AsyncGenerator<T[]>;
  /** Frees the disk space. */
  close(): Promise<void>;
};

type Extent = { readonly position: number; readonly length: number };

/** The file is unlinked at once, so nothing is left of it however the process ends. */
export async function createSpool<T>(): Promise<Spool<T>> {
  const path = join(tmpdir(), `partner-orders-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  const extents: Extent[] = [];
  let end = 0;
  return {
    add: async (batch) => {
      const bytes = Buffer.from(JSON.stringify(batch));
      await file.writeFile(bytes); // At the end of the file. Reads name their position, so nothing else moves it.
      extents.push({ position: end, length: bytes.length });
      end += bytes.length;
    },
    batches: async function* () {
      for (const extent of extents) yield JSON.parse(await readAt(file, extent)) as T[]; // Written by `add`.
    },
    close: () => file.close(),
  };
}

async function readAt(file: FileHandle, { position, length }: Extent): Promise<string> {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Error("A temporary file is shorter than what was written to it.");
    filled += bytesRead;
  }
  return bytes.toString();
}
