import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { useNavigate, useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";
import { parseSearch } from "../routing/search.ts";
import classes from "./link.module.css";

type Followed = { readonly to: string; readonly search: object };

/** What the router needs of an address of `paths.ts`. */
function linkTo(address: string): Followed {
  const [to = "", search = ""] = address.split("?", 2);
  return { to, search: parseSearch(search) };
}

type To = { readonly to: string; readonly children?: ReactNode };

type OnClick = (event: MouseEvent<HTMLAnchorElement>) => void;

const opensElsewhere = ({ button, metaKey, altKey, ctrlKey, shiftKey }: MouseEvent): boolean =>
  button !== 0 || metaKey || altKey || ctrlKey || shiftKey;

/**
 * What makes an anchor a link of the console. The router's own `Link` follows each change of the address to know whether
 * it is active: a list has hundreds of links, and none of them needs to know.
 */
function useLink(to: string, onClick?: OnClick) {
  const router = useRouter();
  const go = useGo();
  // What fails now is tried again when the link is followed.
  const preload = () => void router.preloadRoute(linkTo(to) as never).catch(() => undefined);
  return {
    href: to,
    onClick: (event: MouseEvent<HTMLAnchorElement>) => {
      onClick?.(event);
      if (event.defaultPrevented || opensElsewhere(event)) return;
      event.preventDefault();
      void go(to);
    },
    onMouseEnter: preload,
    onFocus: preload,
    onTouchStart: preload,
  };
}

type TextLinkProps = To &
  AnchorProps & {
    "data-row-link"?: boolean;
    "aria-label"?: string;
    "aria-current"?: "page" | undefined;
    title?: string;
    tabIndex?: number;
    onClick?: OnClick;
  };

export const TextLink = ({ to, onClick, ...rest }: TextLinkProps) => (
  <Anchor {...rest} {...useLink(to, onClick)} />
);

type PlainLinkProps = To & { className?: string | undefined; "data-row-link"?: boolean };

/** A link in a cell of a list: an element of its own, since a list has hundreds of cells. */
export const PlainLink = ({ to, className = "", ...rest }: PlainLinkProps) => (
  <a {...rest} {...useLink(to)} className={`${classes["plain"]} ${className}`} />
);

export const ButtonLink = ({ to, ...rest }: To & ButtonProps) => (
  <Button component="a" {...rest} {...useLink(to)} />
);

/** Goes to an address of `paths.ts`. */
export function useGo(): (to: string, options?: { replace?: boolean }) => Promise<void> {
  const navigate = useNavigate();
  return (to, { replace = false } = {}) =>
    navigate({ ...linkTo(to), replace } as Parameters<typeof navigate>[0]);
}
