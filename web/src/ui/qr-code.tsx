import encodeQR from "qr";

/** Free space around the modules, which cameras need. */
const QUIET = 4;

type Props = {
  readonly of: string;
  /** What it is, for those who do not see it. */
  readonly label: string;
};

/** A QR code, drawn here: its content leaves the browser for no other place. Always dark on white, for cameras. */
export function QrCode({ of, label }: Props) {
  const rows = encodeQR(of, "raw", { ecc: "medium", border: QUIET });
  const modules = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      width={220}
      height={220}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
      style={{ display: "block", maxWidth: "100%" }}
    >
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={modules.join("")} fill="#000" />
    </svg>
  );
}
