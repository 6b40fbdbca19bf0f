import type { ReactNode } from "react";
import classes from "./below.module.css";

/** A cell of two lines: what it names, and below it a text of less weight. */
export const Below = ({ text, children }: { text: string; children: ReactNode }) => (
  <>
    {children}
    <span className={classes["below"]}>{text}</span>
  </>
);
