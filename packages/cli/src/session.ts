import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { type List, PartnerOrders } from "../../sdk/src/index.ts";
import { UsageError } from "./exit.ts";
import { type Columns, createOutput, type Output } from "./output.ts";
import { readSettings, type Settings } from "./settings.ts";

/** What each command works with. */
export type Session = {
  readonly client: PartnerOrders;
  readonly settings: Settings;
  readonly output: Output;
};

// biome-ignore lint/suspicious/noExplicitAny: commander passes the arguments that the command has declared.
type Work = (session: Session, ...args: any[]) => Promise<void>;

/** The action of a command: it gets a session, its arguments, and its options. */
export const action =
  (work: Work) =>
  async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command; // commander passes itself last.
    const { json = false, profile } = command.optsWithGlobals<{ json?: boolean; profile?: string }>();
    const settings = await readSettings(profile);
    const client = new PartnerOrders({ baseUrl: settings.api, key: settings.key });
    await work({ client, settings, output: createOutput(json) }, ...args.slice(0, -1));
  };

/** Prints the first items of a list, and says if there are more. */
export async function printList<T extends object>(
  output: Output,
  list: List<T>,
  limit: number,
  columns: Columns<T>,
): Promise<void> {
  const items: T[] = [];
  for await (const item of list) {
    if (items.length === limit) {
      output.note(`There are more than ${limit}: add --limit.`);
      break;
    }
    items.push(item);
  }
  output.rows(items, columns);
}

export const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 10_000;

export function count(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > LIMIT_MAX)
    throw new InvalidArgumentError(`It must be a whole number between 1 and ${LIMIT_MAX}.`);
  return number;
}

/** An option that may be repeated, or have several values after commas. */
export const several = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(",").map((one) => one.trim()),
];

/** A JSON object of a file, or of standard input if the file is `-`. */
export async function readJson<T>(path: string): Promise<T> {
  const content = await readInput(path);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    value = null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${path === "-" ? "Standard input" : path} must be a JSON object.`);
  return value as T; // The service checks its members.
}

export async function readInput(path: string): Promise<string> {
  if (path === "-") return await text(process.stdin);
  return await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`${path} cannot be read: ${error.message}`);
  });
}
