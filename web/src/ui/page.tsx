import { Breadcrumbs, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Fragment, type ReactNode, type RefObject, useEffect, useId, useRef } from "react";
import { useTranslation } from "react-i18next";
import { TextLink } from "./link.tsx";
import classes from "./page.module.css";

type Props = {
  readonly title: string;
  /** The way to this page: `Crumbs`. */
  readonly crumbs?: ReactNode;
  /** Beside the title, such as a status. */
  readonly beside?: ReactNode;
  /** Under the title: what the page is for, in a sentence. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  /** The pages about the same thing: `Tabs`. */
  readonly tabs?: ReactNode;
  readonly children: ReactNode;
};

/** The frame of every page: its title, for people and for the browser's tab, and its actions. */
export function Page({ title, crumbs, beside, about, actions, tabs, children }: Props) {
  const { t } = useTranslation();
  const heading = useFocusWhenOpened();
  useEffect(() => {
    document.title = `${title} · ${t("shell.product")}`;
  }, [title, t]);
  return (
    <Stack gap="md">
      <div className={classes["header"]} data-page-header>
        <div className={classes["title"]}>
          {crumbs}
          <Group gap="xs">
            <Title order={1} size="h3" ref={heading} tabIndex={-1} style={{ outline: "none" }}>
              {title}
            </Title>
            {beside}
          </Group>
          {about !== undefined && (
            <Text c="dimmed" size="sm" style={{ textWrap: "pretty" }}>
              {about}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </div>
      {tabs}
      {children}
    </Stack>
  );
}

let isFirstPage = true;

/**
 * The heading of a page that follows another one gets the focus, so that screen readers say where the person is, and the next
 * Tab is in the page. A browser does so when it loads a page. A field that the page itself has focused keeps the focus.
 */
function useFocusWhenOpened(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isFirstPage && document.activeElement?.closest("main, [role=dialog]") == null)
      heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return heading;
}

/** Moves the focus to the heading of the page that is shown. */
export const focusHeading = (): void =>
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });

type CrumbsProps = { readonly of: readonly (readonly [name: string, to: string])[] };

/** The pages above this one. */
export function Crumbs({ of }: CrumbsProps) {
  const { t } = useTranslation();
  return (
    <Breadcrumbs
      component="nav"
      aria-label={t("ui.crumbs")}
      separatorMargin={6}
      classNames={{ root: classes["crumbs"] ?? "", breadcrumb: classes["crumb"] ?? "" }}
    >
      {of.map(([name, to]) => (
        <TextLink key={to} to={to} size="xs">
          {name}
        </TextLink>
      ))}
    </Breadcrumbs>
  );
}

/** The placeholder of a page while its data is on the way. */
export function PageSkeleton() {
  const { t } = useTranslation();
  return (
    <Stack gap="md" role="status" aria-label={t("ui.loading")}>
      <Skeleton height={28} width={220} />
      <Skeleton height={36} />
      <Skeleton height={320} />
    </Stack>
  );
}

type PartsProps = {
  /** Those that are missing or empty are left out. */
  readonly of: readonly ReactNode[];
  /** What stands between two parts, such as a comma. */
  readonly between: string;
};

/**
 * Texts of others on one line, such as the parts of an address. Each is isolated: a sign in it that changes the direction of
 * writing does not change that of the parts after it.
 */
export const Parts = ({ of, between }: PartsProps) =>
  of.filter(Boolean).map((part, index) => (
    // Their order is all that they have.
    <Fragment key={index}>
      {index > 0 && between}
      <span className={classes["part"]}>{part}</span>
    </Fragment>
  ));

type SectionProps = { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode };

/** A part of a page with a heading of its own, apart from the others by space and a line. It has no frame: a table in it has none. */
export function Section({ title, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section className={classes["section"]} aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      <Stack gap="sm">{children}</Stack>
    </section>
  );
}
