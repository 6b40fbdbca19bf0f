import type { ReactNode } from "react";
import classes from "./facts.module.css";

/** Names and values, such as the details of an order. A value that is missing is a dash. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <div className={classes["frame"]}>
    <dl className={classes["facts"]}>
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null || value === undefined || value === "" ? "–" : value}</dd>
        </div>
      ))}
    </dl>
  </div>
);
