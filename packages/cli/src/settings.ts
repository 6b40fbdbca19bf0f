import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { UsageError } from "./exit.ts";

/** Where the service is, and who calls it. */
export type Settings = { readonly api: string; readonly key: string };

const PROFILES_MAX = 2;
const BYTES_MAX = 65_536;

/**
 * `PARTNER_ORDERS_API` and `PARTNER_ORDERS_KEY`, or a profile of the file. Both come from one place, so that a key never
 * goes to the address of another one.
 */
export async function readSettings(
  profile: string | undefined,
  environment = process.env,
): Promise<Settings> {
  const { PARTNER_ORDERS_API: api, PARTNER_ORDERS_KEY: key } = environment;
  if (profile === undefined && (api || key)) {
    if (!api) throw new UsageError("PARTNER_ORDERS_API is not set: the address of the service, without /v1.");
    if (!key) throw new UsageError("PARTNER_ORDERS_KEY is not set: the key of the connection.");
    return checked(api, key, "PARTNER_ORDERS_API");
  }
  const path = environment["PARTNER_ORDERS_CONFIG"] ?? join(folderOf(environment), "config.json");
  const profiles = profilesOf(await readOwn(path), path);
  const names = Object.keys(profiles);
  const name = profile ?? names[0] ?? "";
  const settings = profiles[name];
  if (settings === undefined)
    throw new UsageError(`${path} has no profile ${name}. It has: ${names.join(", ") || "none"}.`);
  return checked(settings.api, settings.key, `"api" of ${name} in ${path}`);
}

const folderOf = (environment: NodeJS.ProcessEnv): string =>
  join(environment["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "partner-orders");

function checked(api: string, key: string, name: string): Settings {
  if (!/^https?:\/\/[^/]/.test(api) || !URL.canParse(api))
    throw new UsageError(`${name} must begin with https:// or http://, such as https://orders.example.`);
  return { api: api.replace(/(?:\/v1)?\/*$/, ""), key: key.trim() };
}

/** A file that only its owner can read. The opened file is checked, so it cannot be exchanged in between. */
async function readOwn(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw new UsageError(`${path} cannot be read: ${error.message}`);
    throw new UsageError(
      `No key is set. Set PARTNER_ORDERS_API and PARTNER_ORDERS_KEY, or write a profile into ${path}.`,
    );
  });
  try {
    const { mode, uid, size } = await file.stat();
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new UsageError(`${path} holds a key, and others can read or change it. Run: chmod 600 ${path}`);
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new UsageError(`${path} holds a key, and belongs to another user.`);
    if (size > BYTES_MAX) throw new UsageError(`${path} is larger than ${BYTES_MAX} bytes.`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function profilesOf(text: string, path: string): Readonly<Record<string, Settings>> {
  const form = `${path} must be {"<profile>": {"api": "https://…", "key": "pok_…"}}, with at most ${PROFILES_MAX} profiles.`;
  let profiles: unknown;
  try {
    profiles = JSON.parse(text);
  } catch {
    throw new UsageError(form);
  }
  if (typeof profiles !== "object" || profiles === null) throw new UsageError(form);
  const all = Object.values(profiles as Readonly<Record<string, Partial<Settings> | null>>);
  const isForm = all.every((one) => typeof one?.api === "string" && typeof one.key === "string");
  if (!isForm || all.length === 0 || all.length > PROFILES_MAX) throw new UsageError(form);
  return profiles as Readonly<Record<string, Settings>>; // Checked above.
}
