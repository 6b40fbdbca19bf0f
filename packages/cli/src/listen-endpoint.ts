import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { dirname, join } from "node:path";
import { type EventType, isProblem, type Mode, type WebhookEndpoint } from "../../sdk/src/index.ts";
import type { Session } from "./session.ts";

/** The pull endpoint of `listen`, remembered for each service, connection and mode. */
export type ListenEndpoint = {
  readonly id: string;
  readonly secret: string;
  /** What it receives without `--types`: the default of the service when it was made. */
  readonly defaultTypes: readonly EventType[];
};

type Wanted = { readonly mode: Mode; readonly types?: readonly EventType[] };

const PATH = join(
  process.env["XDG_STATE_HOME"] || join(homedir(), ".local/state"),
  "partner-orders/listen.json",
);

/** The remembered endpoint, or a new one, active and with the wanted types. */
export async function openEndpoint(session: Session, wanted: Wanted): Promise<ListenEndpoint> {
  const { client, settings } = session;
  const { id: connectionId } = await client.me();
  const name = `${settings.api} ${connectionId} ${wanted.mode}`;
  const all = await readAll();
  const known = all[name] ?? null;
  const endpoint = known ?? (await adopt(session, wanted.mode)) ?? (await create(session, wanted.mode));
  if (endpoint !== known) await writeAll({ ...all, [name]: endpoint });
  const current = await missingAsNull(client.webhookEndpoints.get(endpoint.id));
  if (current === null) {
    // It was deleted. What it had pending has failed with it.
    const { [name]: _deleted, ...others } = await readAll();
    await writeAll(others);
    session.output.note(`The endpoint ${endpoint.id} was deleted. Making another one.`);
    return openEndpoint(session, wanted);
  }
  await adjust(session, current, wanted.types ?? endpoint.defaultTypes);
  return endpoint;
}

/** The remembered endpoint of a connection. Null if there is none. */
export async function knownEndpoint({ client, settings }: Session, mode: Mode): Promise<string | null> {
  const { id: connectionId } = await client.me();
  return (await readAll())[`${settings.api} ${connectionId} ${mode}`]?.id ?? null;
}

/** An endpoint that no file remembers, for one run. */
export async function temporaryEndpoint(session: Session, { mode, types }: Wanted): Promise<ListenEndpoint> {
  const { id, secret, eventTypes } = await session.client.webhookEndpoints.create({
    kind: "pull",
    mode,
    description: describedRun({ host: hostname(), pid: process.pid, startedAt: new Date() }),
    ...(types && { eventTypes: [...types] }),
  });
  return { id, secret, defaultTypes: eventTypes };
}

type Run = { readonly host: string; readonly pid: number; readonly startedAt: Date };

/** How the next run recognizes the endpoint of a run that was killed. */
export const describedRun = ({ host, pid, startedAt }: Run): string =>
  `partner-orders listen --exec on ${host.slice(0, 150)} (process ${pid}, ${startedAt.toISOString()})`;

function runOf(description: string | null): Run | null {
  const parts = /^partner-orders listen --exec on (.*) \(process (\d+), (\S+)\)$/.exec(description ?? "");
  return parts && { host: String(parts[1]), pid: Number(parts[2]), startedAt: new Date(String(parts[3])) };
}

/** After this time a run of this machine whose process is gone was killed. Two containers may have one name, and other processes. */
const KILLED_AFTER_MS = 10 * 60_000;
/** After this time any run was killed: those of CI rarely have the name of a machine again. */
const ENDED_AFTER_MS = 24 * 3_600_000;

/** Deletes the endpoints of runs that were killed before they could do it. */
export async function deleteLeftEndpoints({ client, output }: Session, mode: Mode): Promise<void> {
  for await (const endpoint of client.webhookEndpoints.list({ limit: 100 })) {
    const run = runOf(endpoint.description);
    if (endpoint.kind !== "pull" || endpoint.mode !== mode || run === null) continue;
    const ageMs = Date.now() - run.startedAt.getTime();
    const isGone = run.host === hostname().slice(0, 150) && !isRunning(run.pid);
    if (!(ageMs > ENDED_AFTER_MS || (ageMs > KILLED_AFTER_MS && isGone))) continue;
    await missingAsNull(client.webhookEndpoints.delete(endpoint.id)); // Another run may do the same.
    output.note(`Deleted ${endpoint.id}, which a run of listen --exec had left.`);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // It belongs to another user.
  }
}

const description = (): string => `partner-orders listen on ${hostname()}`.slice(0, 255);

async function create({ client }: Session, mode: Mode): Promise<ListenEndpoint> {
  const request = { kind: "pull", mode, description: description() } as const;
  const { id, secret, eventTypes } = await client.webhookEndpoints.create(request);
  return { id, secret, defaultTypes: eventTypes };
}

/** An endpoint of this machine whose file was lost, or was not yet written when the program died. Its secret is unknown. */
async function adopt({ client }: Session, mode: Mode): Promise<ListenEndpoint | null> {
  for await (const one of client.webhookEndpoints.list({ limit: 100 })) {
    if (one.kind !== "pull" || one.mode !== mode || one.description !== description()) continue;
    const { secret } = await client.webhookEndpoints.rotateSecret(one.id, { overlapHours: 0 });
    return { id: one.id, secret, defaultTypes: one.eventTypes };
  }
  return null;
}

async function adjust(
  { client, output }: Session,
  { id, eventTypes, status, pauseReason }: WebhookEndpoint,
  types: readonly EventType[],
): Promise<void> {
  const isSame = types.length === eventTypes.length && types.every((type) => eventTypes.includes(type));
  if (!isSame) await client.webhookEndpoints.update(id, { eventTypes: [...types] });
  if (status !== "paused") return;
  await client.webhookEndpoints.resume(id);
  output.note(`The endpoint was paused (${pauseReason}). What waited is sent now.`);
}

async function missingAsNull<T>(read: Promise<T>): Promise<T | null> {
  return read.catch((error: unknown) => {
    if (isProblem(error) && error.code === "not-found") return null;
    throw error;
  });
}

async function readAll(): Promise<Readonly<Record<string, ListenEndpoint>>> {
  try {
    return JSON.parse(await readFile(PATH, "utf8"));
  } catch {
    return {}; // None, or broken: the endpoint is found by its description.
  }
}

/** Written beside it and renamed, so that a crash leaves the old file or the new one. It holds secrets. */
async function writeAll(all: Readonly<Record<string, ListenEndpoint>>): Promise<void> {
  await mkdir(dirname(PATH), { recursive: true, mode: 0o700 });
  const temporary = `${PATH}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, PATH);
}
