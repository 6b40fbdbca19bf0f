import IconPrinter from "icon:printer";
import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import classes from "./barcode.module.css";
import { barsOf } from "./code-128.ts";
import { asPrinted } from "./read-scan.ts";

/** Free space on both sides, in modules: scanners need it. */
const QUIET = 10;
const HEIGHT = 44;

type Props = {
  /** The text, such as an id of the service, which is drawn as digits. */
  readonly of: string;
  /** What people read below it, in the place of the text. */
  readonly name?: string;
  /** Millimetres per module on paper. */
  readonly moduleMm?: number;
};

/** A barcode with its text below, drawn here: nothing is loaded. Always dark on white, so that a scanner reads it. */
export function Barcode({ of, name = of, moduleMm = 0.28 }: Props) {
  const drawn = barsOf(asPrinted(of));
  if (drawn === null) return <span>{name}</span>;
  const width = drawn.width + 2 * QUIET;
  return (
    <figure style={{ margin: 0, width: "fit-content", maxWidth: "100%" }}>
      <svg
        className={classes["bars"]}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        width={`${(width * moduleMm).toFixed(1)}mm`}
        height="12mm"
        preserveAspectRatio="none"
        shapeRendering="crispEdges"
        role="img"
        aria-label={name}
      >
        <rect width={width} height={HEIGHT} fill="#fff" />
        {drawn.bars.map(({ at, width: bar }) => (
          <rect key={at} x={at + QUIET} width={bar} height={HEIGHT} fill="#000" />
        ))}
      </svg>
      <figcaption style={{ fontFamily: "ui-monospace, monospace", fontSize: "0.7rem", textAlign: "center" }}>
        {name}
      </figcaption>
    </figure>
  );
}

/** Prints the page. Only its papers are printed: see `base.css`. Not primary where people do something else at first. */
export function PrintButton({ isPrimary = true }: { isPrimary?: boolean }) {
  const { t } = useTranslation();
  return (
    <Button
      size="xs"
      variant={isPrimary ? "filled" : "default"}
      leftSection={<IconPrinter size={14} />}
      onClick={() => window.print()}
    >
      {t("ui.print")}
    </Button>
  );
}
