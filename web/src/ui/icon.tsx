import type { ReactNode, SVGProps } from "react";

/** `stroke` is the width of the lines, where the icon has 24 units. Both have the size of Tabler as default. */
type IconProps = Omit<SVGProps<SVGSVGElement>, "stroke" | "ref"> & {
  readonly size?: number;
  readonly stroke?: number;
};

export type Icon = (props: IconProps) => ReactNode;

/** `import IconPlus from "icon:plus"` calls this with the drawing (web/build/icons.ts). */
export const icon =
  (drawing: string): Icon =>
  ({ size = 24, stroke = 2, color = "currentColor", ...props }) => (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke={color}
      strokeWidth={stroke}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden={props["aria-label"] === undefined}
      {...props}
      dangerouslySetInnerHTML={{ __html: drawing }}
    />
  );
