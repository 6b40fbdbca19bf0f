import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Load, LoadResult } from "./load-generator.ts";

const execute = promisify(execFile);

const installed = execute("wrk", ["--version"]).then(
  () => true,
  // It prints its version and exits with 1.
  (error: { code?: unknown }) => error.code === 1,
);

/** The generator of loads without a fixed rate: wrk needs an eighth of the processor time of the other one. */
export const generatorName = async (): Promise<string> => ((await installed) ? "wrk" : "autocannon");

/** A load that sends as much as it can for some time. */
export const canRunWrk = async ({ perSecond, amount, partnersFile }: Load): Promise<boolean> =>
  perSecond === undefined && amount === undefined && partnersFile === undefined && (await installed);

const DIGITS = 9;

/** @param file is written for wrk, with the requests */
export async function runWrk(load: Load, file: string): Promise<LoadResult> {
  await writeFile(file, requestsOf(load));
  const script = new URL("wrk.lua", import.meta.url).pathname;
  const { stdout } = await execute("wrk", [
    "--threads=1", // One numbers the requests.
    `--connections=${load.connections}`,
    `--duration=${Math.ceil(load.seconds)}s`,
    "--timeout=30s",
    `--script=${script}`,
    load.url,
    "--",
    file,
  ]);
  type Printed = {
    requests: number;
    seconds: number;
    rejected: number;
    lost: number;
    p50Ms: number;
    p99Ms: number;
  };
  const printed = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Printed; // wrk.lua printed it.
  const { requests, seconds, rejected, lost, p50Ms, p99Ms } = printed;
  const ok = requests - rejected;
  return { requests, perSecond: ok / seconds, ok, failed: rejected + lost, p50Ms, p99Ms };
}

function requestsOf({ url, method, headers, paths, bodyTemplate, idPrefix }: Load): string {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const body = bodyTemplate?.replace("{id}", `${idPrefix}-\x02`);
  // The number takes the place of one byte.
  const length = body === undefined ? "" : `content-length: ${Buffer.byteLength(body) - 1 + DIGITS}\r\n`;
  return (paths ?? [pathname + search])
    .map((path) => `${method} ${path} HTTP/1.1\r\n${lines.join("")}${length}\r\n${body ?? ""}\x01`)
    .join("");
}
