import { readFileSync } from "node:fs";

/** What is assumed where the limit cannot be read, which is not on Linux. */
const ASSUMED = 1_024;

/**
 * How many files and sockets this process may have open. Node's own report has it too, but looks up the names of the
 * hosts of all open sockets for it, and the process waits for that.
 */
export function readOpenFilesMax(): number {
  try {
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (soft === "unlimited") return Number.MAX_SAFE_INTEGER;
    return /^\d+$/.test(soft) ? Number(soft) : ASSUMED;
  } catch {
    return ASSUMED;
  }
}
