import { Fragment, type ReactNode } from "react";

type Props = {
  /** Those that are missing or empty are left out. */
  readonly of: readonly ReactNode[];
  /** What stands between two parts, such as a comma. */
  readonly between: string;
};

/**
 * Texts of others on one line, such as the parts of an address. Each is isolated: a sign in it that changes the direction of
 * writing does not change that of the parts after it.
 */
export const Parts = ({ of, between }: Props) =>
  of.filter(Boolean).map((part, index) => (
    // Their order is all that they have.
    <Fragment key={index}>
      {index > 0 && between}
      <bdi>{part}</bdi>
    </Fragment>
  ));
