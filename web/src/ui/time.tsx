import { exactTime, relativeTime, shortTime } from "../text/format.ts";
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
  const now = new Date();
  const shown = {
    short: () => shortTime(time, now),
    relative: () => relativeTime(time, now),
    exact: () => exactTime(time),
  };
  return (
    <time dateTime={at} title={exactTime(time)} className={classes["time"]}>
      {shown[as]()}
    </time>
  );
}
