import {
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  NavLink,
  type NavLinkProps,
} from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, FunctionComponent, MouseEvent, ReactNode } from "react";
import { parseSearch } from "../routing/search.ts";

type Followed = { readonly to: string; readonly search: object };

type RouterLinkProps = AnchorHTMLAttributes<HTMLAnchorElement> &
  Followed & { activeOptions?: object; activeProps?: object };

// The router's types know patterns of addresses, `paths.ts` makes complete ones: a test checks that each matches a pattern.
const RouterLink = Link as unknown as FunctionComponent<RouterLinkProps>;

/** What the router needs of an address of `paths.ts`. */
function linkTo(address: string): Followed {
  const [to = "", search = ""] = address.split("?", 2);
  return { to, search: parseSearch(search) };
}

type To = { readonly to: string; readonly children?: ReactNode };

export const TextLink = ({
  to,
  ...rest
}: To &
  AnchorProps & {
    "data-row-link"?: boolean;
    "aria-label"?: string;
    tabIndex?: number;
    onClick?: (event: MouseEvent<HTMLAnchorElement>) => void;
  }) => <Anchor component={RouterLink} {...linkTo(to)} {...rest} />;

export const ButtonLink = ({ to, ...rest }: To & ButtonProps) => (
  <Button component={RouterLink} {...linkTo(to)} {...rest} />
);

/** `isExact`: the item is marked on its own page only, not on those below. */
export const NavigationLink = ({
  to,
  isExact = false,
  ...rest
}: To & NavLinkProps & { isExact?: boolean; onClick?: () => void }) => (
  <NavLink
    component={RouterLink}
    {...linkTo(to)}
    activeOptions={{ exact: isExact, includeSearch: false }}
    activeProps={{ "data-active": true, "aria-current": "page" }}
    {...rest}
  />
);

/** Goes to an address of `paths.ts`. */
export function useGo(): (to: string, options?: { replace?: boolean }) => Promise<void> {
  const navigate = useNavigate();
  return (to, { replace = false } = {}) =>
    navigate({ ...linkTo(to), replace } as Parameters<typeof navigate>[0]);
}
