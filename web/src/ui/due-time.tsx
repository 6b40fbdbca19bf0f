import { useTranslation } from "react-i18next";
import { useTicks } from "./ticks.ts";
import { Time } from "./time.tsx";

/**
 * When something is to happen. After that it is due: it waits for a worker, or for something else, and a time in the past
 * would look as if it had happened.
 */
export function DueTime({ at }: { at: string | null }) {
  const { t } = useTranslation();
  useTicks();
  if (at !== null && new Date(at) <= new Date()) return t("ui.due");
  return <Time at={at} as="relative" />;
}
