import { parseTime } from "../../platform/time.ts";
import { sentenceOf } from "../../platform/wire/rules.ts";
import { isDay, yearError } from "../../platform/wire/validation.ts";
import { type Field, isMoney, type Schema } from "./command.ts";

// Reads what people write on the command line. The back office checks the values.

/** A text without a meaning. The message follows the name of the option. */
export class InvalidValue extends Error {}

/** How a field is written on the command line. */
export type Form = {
  /** What stands for it in the help: `<amount>`. */
  readonly placeholder: string;
  /** How the value is removed. Empty: it cannot be. */
  readonly removal: string;
  /** @throws InvalidValue */
  readonly read: (text: string) => unknown;
};

/** The form of a field that its description gives. */
export function formOf({ name, schema, isNullable }: Field): Form {
  const value = name === "grants" ? { placeholder: "grants", read: grants } : formOfSchema(schema);
  if (!isNullable) return { ...value, removal: "" };
  const none = schema.type === "string" && schema.format === undefined ? "" : "none";
  return {
    ...value,
    removal: none === "" ? " An empty text: without it." : " none: without it.",
    read: (text) => (text === none ? null : value.read(text)),
  };
}

function formOfSchema(schema: Schema): Omit<Form, "removal"> {
  if (isMoney(schema)) return { placeholder: "amount", read: money };
  switch (schema.type) {
    case "boolean":
      return { placeholder: "yes|no", read: yesOrNo };
    case "integer":
      return {
        placeholder: "number",
        read: schema.minimum !== undefined && schema.minimum >= 0 ? wholeNumber : difference,
      };
    case "number":
      return { placeholder: "number", read: decimal };
    case "array":
      return listOf(schema.items ?? {});
    case "string":
      return schema.format === "date-time"
        ? { placeholder: "time", read: time }
        : {
            placeholder:
              schema.enum !== undefined && schema.enum.length <= 8 ? schema.enum.join("|") : "text",
            read: (text) => text,
          };
    default:
      return { placeholder: "json", read: json };
  }
}

/** Items are separated by commas, and the option may be repeated. */
function listOf(items: Schema): Omit<Form, "removal"> {
  if (items.type === "string") return { placeholder: "list", read: list };
  const members = Object.keys(items.properties ?? {});
  const [id = "", quantity] = members;
  if (members.length === 2 && quantity === "quantity")
    return { placeholder: `${id} ${quantity},…`, read: (text) => quantities(text, id) };
  return { placeholder: "json", read: (text) => [json(text)].flat() };
}

/** Each id with its quantity: `line_... 3`. */
const quantities = (text: string, id: string): object[] =>
  list(text).map((item) => {
    const [, named, quantity] = /^(\S+) +(\d{1,9})$/.exec(item) ?? [];
    if (named === undefined || quantity === undefined)
      throw new InvalidValue('must be ids with quantities such as "line_... 3", separated by commas.');
    return { [id]: named, quantity: Number(quantity) };
  });

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidValue("must be JSON.");
  }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidValue("must be a whole number.");
  return Number(text);
}

/** A whole number with or without a sign. */
function difference(text: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text)) throw new InvalidValue("must be a whole number, such as 5 or -2.");
  return Number(text);
}

function decimal(text: string): number {
  if (!/^\d{1,15}(\.\d{1,9})?$/.test(text)) throw new InvalidValue("must be a number, such as 24 or 0.5.");
  return Number(text);
}

function money(text: string): { amount: string; currency: string } {
  const [, amount, currency] = /^(\S+) +([A-Za-z]{3})$/.exec(text.trim()) ?? [];
  if (amount === undefined || currency === undefined)
    throw new InvalidValue('must be an amount with its currency, such as "12.50 EUR".');
  return { amount, currency: currency.toUpperCase() };
}

const GRANT_FIELDS: Readonly<Record<string, string>> = {
  merchant: "merchantIds",
  warehouse: "facilityIds",
  partner: "connectionIds",
};

/** Roles separated by semicolons, each with the ids that it is for: `operator; merchant mer_...,mer_...`. */
function grants(text: string): Record<string, unknown>[] {
  return text.split(";").map((grant) => {
    const [, role, ids] = /^([a-z]+)(?: +(\S.*))?$/.exec(grant.trim()) ?? [];
    const field = role === undefined ? undefined : GRANT_FIELDS[role];
    if (role === undefined || (ids !== undefined && field === undefined))
      throw new InvalidValue(
        'must be roles such as "operator" or "merchant mer_...", separated by semicolons.',
      );
    return field === undefined || ids === undefined ? { role } : { role, [field]: list(ids) };
  });
}

const list = (text: string): string[] => text.split(",").map((item) => item.trim());

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?))?$/i;

/** A day begins at midnight UTC. A time without a zone would depend on the machine. */
export function time(text: string): string {
  const [, day = ""] = TIME.exec(text) ?? [];
  const moment = parseTime(day === text ? `${day}T00:00:00Z` : text);
  if (Number.isNaN(moment.getTime()) || !isDay(day))
    throw new InvalidValue("must be a day, or a time with its zone: 2026-01-31, 2026-01-31T12:00:00Z.");
  const error = yearError(moment);
  if (error !== null) throw new InvalidValue(`${sentenceOf(error)}.`);
  return moment.toISOString();
}

function yesOrNo(text: string): boolean {
  if (text !== "yes" && text !== "no") throw new InvalidValue("must be yes or no.");
  return text === "yes";
}
