import { UsageError } from "./failure.ts";
import type { OptionValues } from "./requests/command.ts";

/** The id that an option names; null without the option. */
export function idOf(prefix: "mer" | "con", name: string, options: OptionValues): string | null {
  if (options[name] === undefined) return null;
  const id = String(options[name]);
  if (!new RegExp(`^${prefix}_\\w{26}$`).test(id))
    throw new UsageError(`--${name} must be an id that begins with ${prefix}_.`);
  return id;
}

/** Days begin at midnight UTC. A time without a zone would depend on the machine. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

export function timeOf(name: string, options: OptionValues): Date | null {
  if (options[name] === undefined) return null;
  const text = String(options[name]);
  const time = new Date(text);
  if (!TIME.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError(
      `--${name} must be a day, or a time with its zone: 2026-01-31, 2026-01-31T12:00:00Z.`,
    );
  return time;
}
