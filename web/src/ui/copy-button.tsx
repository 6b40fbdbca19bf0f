import IconCheck from "icon:check";
import IconCopy from "icon:copy";
import { useClipboard } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import classes from "./copy-button.module.css";

/**
 * Copies a text. `of` names what it is, for those who hear the button. An element of its own: a list has one in each row,
 * and a button of Mantine with its tooltip takes ten times as long to draw.
 */
export function CopyButton({ value, of }: { value: string; of: string }) {
  const { t } = useTranslation();
  const { copied, copy } = useClipboard({ timeout: 1_500 });
  return (
    <button
      type="button"
      className={classes["button"]}
      onClick={() => copy(value)}
      title={copied ? t("ui.copied") : t("ui.copy")}
      aria-label={t("ui.copyOf", { of })}
    >
      {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
    </button>
  );
}

/** A longer one takes two columns of facts. */
const SHORT = 22;

/** A text such as an id with a button that copies all of it, also where its end is cut. `of` names what it is. */
export const CopiedText = ({ value, of }: { value: string; of: string }) => (
  <span className={classes["copied"]} data-copied data-long={value.length > SHORT || undefined}>
    <span title={value}>{value}</span>
    <CopyButton value={value} of={of} />
  </span>
);
