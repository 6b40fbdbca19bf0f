import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, openSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlive } from "../../src/platform/embedded-postgres/server.ts";

/** The Debian packages etcd-server, patroni, haproxy and postgresql-15 install these. */
export const PROGRAMS = {
  etcd: "/usr/bin/etcd",
  patroni: "/usr/bin/patroni",
  haproxy: "/usr/sbin/haproxy",
  postgres: "/usr/lib/postgresql/15/bin/postgres",
} as const;

/** The programs that this machine lacks. */
export const missingPrograms = (): string[] => Object.values(PROGRAMS).filter((path) => !isExecutable(path));

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export type Account = { readonly uid: number; readonly gid: number };

export type Program = {
  readonly child: ChildProcess;
  readonly logFile: string;
};

/** Starts a program that writes to a log file in `folder`. */
export function run(
  folder: string,
  name: string,
  command: string,
  args: readonly string[],
  options: { account?: Account | undefined; env?: Record<string, string> } = {},
): Program {
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, "a");
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ["ignore", log, log],
    env: { PATH: process.env["PATH"], LC_ALL: "C", ...options.env },
    ...options.account,
  });
  child.on("error", (error) => process.stderr.write(`${name} cannot run: ${error.message}\n`));
  return { child, logFile };
}

/** Ends a program, by force if it does not end within `graceMs`. */
export async function end({ child }: Program, graceMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  child.kill("SIGCONT"); // It may be frozen.
  const force = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await ended;
  clearTimeout(force);
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, signal);
}

/** The process, its children, and theirs. */
export async function familyOf(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const parent = /^.*\) \S (\d+) /s.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const family = [pid];
  for (const member of family)
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

/** Repeats `look` until it returns something other than null. @throws Error after `timeoutMs` */
export async function until<T>(
  what: string,
  timeoutMs: number,
  look: () => Promise<T | null> | T | null,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await Promise.resolve(look()).catch(() => null);
    if (found !== null) return found;
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs / 1_000} s: ${what}`);
    await delay(100);
  }
}
