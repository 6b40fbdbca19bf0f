import { useTranslation } from "react-i18next";
import type { BackOfficeDelivery } from "../../../api/schema.d.ts";
import { shortTime } from "../../../text/format.ts";
import { Below } from "../../../ui/list/below.tsx";
import { useTicks } from "../../../ui/ticks.ts";

type Wait = NonNullable<BackOfficeDelivery["wait"]>;

/** The same in a row of a list, which shows the error of a retry elsewhere. */
export function ShortWait({ wait }: { wait: Wait | null }) {
  const { t } = useTranslation();
  useTicks();
  if (wait === null) return "–";
  const { reason, until, error } = wait;
  if (until === null || Date.parse(until) <= Date.now()) return <WaitText wait={wait} />;
  const time = shortTime(new Date(until), new Date());
  if (reason === "retry") return t("waits.retryAt", { time });
  return <Below text={error ?? t("waits.failures")}>{t("waits.backoffUntil", { time })}</Below>;
}

/** What a pending delivery waits for. A retry whose time has come waits for its turn. */
export function WaitText({ wait }: { wait: Wait | null }) {
  const { t } = useTranslation();
  useTicks();
  if (wait === null) return "–";
  const { reason, until, error } = wait;
  if (reason === "backoff" || reason === "retry") {
    if (until === null || Date.parse(until) <= Date.now()) return t("waits.turn");
    return t(`waits.${reason}`, {
      time: shortTime(new Date(until), new Date()),
      error: error ?? t("waits.failures"),
    });
  }
  return t(`waits.${reason}`);
}
