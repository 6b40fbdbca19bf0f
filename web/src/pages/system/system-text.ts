import { useTranslation } from "react-i18next";
import type { Check } from "../../api/schema.d.ts";
import { formatDuration } from "../../text/format.ts";

type Kind = "queues" | "checks" | "jobs";

/** The name of a queue, check or job in words. One that has no text yet is shown by its name. */
export function useSystemName(): (kind: Kind, name: string) => string {
  const { t } = useTranslation();
  // A check of a queue has the name of the queue. Names of the API are any text to TypeScript.
  const keyOf = (kind: Kind, name: string) => `systemNames.${kind}.${name}` as "systemNames.checks.clock";
  return (kind, name) => t([keyOf(kind, name), keyOf("queues", name)], { defaultValue: name });
}

/** What a check has found, in words. A reason without a text is said by the service. */
export function useFindingText(): (check: Check) => string {
  const { t } = useTranslation();
  return ({ reason, values, message }) =>
    reason === null
      ? message
      : // A German duration ends with the period of its unit.
        t(`systemNames.reasons.${reason}`, { ...wordsOf(values), defaultValue: message }).replaceAll(
          "..",
          ".",
        );
}

/** Times are in milliseconds, and their names say so. */
const wordsOf = (values: Check["values"]) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      name.endsWith("Ms") && typeof value === "number" ? formatDuration(value) : value,
    ]),
  );
