import classes from "./copied-text.module.css";
import { CopyButton } from "./copy-button.tsx";

/** A text such as an id with a button that copies it, which stays beside it. `of` names what it is. */
export const CopiedText = ({ value, of }: { value: string; of: string }) => (
  <span className={classes["copied"]}>
    <span>{value}</span>
    <CopyButton value={value} of={of} />
  </span>
);
