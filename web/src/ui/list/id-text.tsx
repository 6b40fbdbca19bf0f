import classes from "./id-text.module.css";

/** Longer ones are written smaller. */
const SHORT = 20;

type Props = {
  readonly id: string;
  /** Shown when the pointer rests on it. Default: the whole id, because it may be cut. */
  readonly title?: string;
};

/** An id in a list, on one line. If other columns need the room, its end is cut. */
export const IdText = ({ id, title = id }: Props) => (
  <span className={classes["id"]} data-long={id.length > SHORT || undefined} title={title}>
    <span className={classes["text"]}>{id}</span>
  </span>
);
