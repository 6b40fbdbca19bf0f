import { useRouterState } from "@tanstack/react-router";
import { TextLink } from "./link.tsx";
import classes from "./tabs.module.css";

/** The path of the page that is shown. */
export const usePath = (): string => useRouterState({ select: ({ location }) => location.pathname });

/** How much waits there: a number, and in words what it is of. */
type Waiting = { readonly sum: string; readonly text: string };

type Props = {
  /** What the pages have in common, for readers who do not see it. */
  readonly label: string;
  readonly of: readonly (readonly [name: string, to: string, waiting?: Waiting])[];
};

/** Pages beside each other, such as those about a connection. An action is a button, a way to a page is not. */
export function Tabs({ label, of }: Props) {
  const path = usePath();
  return (
    <nav aria-label={label} className={classes["tabs"]}>
      {of.map(([name, to, waiting]) => (
        <TextLink
          key={to}
          to={to}
          underline="never"
          {...(waiting !== undefined && waiting.text !== "" && { title: waiting.text })}
          className={classes["tab"] ?? ""}
          aria-current={to.split("?", 1)[0] === path && !to.includes("?") ? "page" : undefined}
        >
          {name}
          {waiting !== undefined && waiting.sum !== "" && (
            <span className={classes["count"]} data-figures aria-hidden>
              {waiting.sum}
            </span>
          )}
        </TextLink>
      ))}
    </nav>
  );
}
