import { useTranslation } from "react-i18next";
import { exactTime, relativeTime, shortPeriod, shortTime } from "../text/format.ts";
import { useTicks } from "./ticks.ts";
import classes from "./time.module.css";

type Props = {
  /** A time of the API; null is shown as a dash. */
  readonly at: string | null;
  readonly as?: "short" | "relative" | "exact";
};

/** A time in the person's zone. Pointing at it shows the exact time. */
export function Time({ at, as = "short" }: Props) {
  if (at === null) return <>–</>;
  const time = new Date(at);
  return (
    <time dateTime={at} title={exactTime(time)} className={classes["time"]}>
      {as === "relative" ? (
        <Relative time={time} />
      ) : as === "exact" ? (
        exactTime(time)
      ) : (
        shortTime(time, new Date())
      )}
    </time>
  );
}

/** From a time of the API to another one, which is not included. Pointing at it shows both exactly. */
export function Period({ from, to }: { from: string; to: string }) {
  const [start, end] = [new Date(from), new Date(to)];
  return <span title={`${exactTime(start)} – ${exactTime(end)}`}>{shortPeriod(start, end)}</span>;
}

/** It says something else after a while, also on a page that nothing else changes. */
function Relative({ time }: { time: Date }) {
  useTicks();
  return relativeTime(time, new Date());
}

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
