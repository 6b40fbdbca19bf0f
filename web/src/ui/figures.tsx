import type { ReactNode } from "react";
import classes from "./figures.module.css";

/** A line of figures that lead a page or a section, such as those of a day. */
export const Figures = ({ label, children }: { readonly label?: string; readonly children: ReactNode }) => (
  <dl className={classes["figures"]} aria-label={label}>
    {children}
  </dl>
);

type FigureProps = {
  readonly name: string;
  readonly about?: ReactNode;
  readonly isBad?: boolean;
  readonly children: ReactNode;
};

export const Figure = ({ name, about, isBad = false, children }: FigureProps) => (
  <div className={classes["figure"]}>
    <dt>{name}</dt>
    <dd data-figures data-bad={isBad || undefined}>
      {children}
    </dd>
    {about !== undefined && about !== false && <dd className={classes["about"]}>{about}</dd>}
  </div>
);
