import { useTranslation } from "react-i18next";
import { Time } from "../../../ui/time.tsx";

/** When a delivery is attempted again. It may be due and wait: for its endpoint, which fails, or for an earlier event. */
export function NextAttempt({ at }: { at: string | null }) {
  const { t } = useTranslation();
  if (at !== null && new Date(at) <= new Date()) return t("deliveries.due");
  return <Time at={at} as="relative" />;
}
