import { UsageError } from "./failure.ts";
import type { OptionValues } from "./requests/command.ts";
import { InvalidValue, time } from "./requests/values.ts";

/** The id that an option names; null without the option. */
export function idOf(prefix: "mer" | "con", name: string, options: OptionValues): string | null {
  if (options[name] === undefined) return null;
  const id = String(options[name]);
  if (!new RegExp(`^${prefix}_\\w{26}$`).test(id))
    throw new UsageError(`--${name} must be an id that begins with ${prefix}_.`);
  return id;
}

/** The time that an option names, as the API takes it; null without the option. */
export function timeOf(name: string, options: OptionValues): string | null {
  if (options[name] === undefined) return null;
  try {
    return time(String(options[name]));
  } catch (error) {
    if (error instanceof InvalidValue) throw new UsageError(`--${name} ${error.message}`);
    throw error;
  }
}
