import IconAlertTriangle from "icon:alert-triangle";
import IconHelpCircle from "icon:help-circle";
import IconLogout from "icon:logout";
import IconPlugConnectedX from "icon:plug-connected-x";
import IconUserCircle from "icon:user-circle";
import { Alert, AppShell, Box, Burger, Button, Group, Popover, Stack, Text } from "@mantine/core";
import { useDisclosure, useNetwork } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type AnyRouter, Outlet, useRouter } from "@tanstack/react-router";
import { useEffect, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { rolesOf, useHasRole, useMe } from "../api/me.ts";
import { leaveAllTabs, onOtherPersonElsewhere } from "../api/other-tabs.ts";
import { read } from "../api/read.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { updateStream } from "../api/updates.ts";
import { useChange } from "../api/use-change.ts";
import { paths } from "../paths.ts";
import { SignInAgain } from "../sign-in/sign-in-again.tsx";
import { ButtonLink, TextLink, useGo } from "../ui/link.tsx";
import { Tabs, usePath } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import icon from "./icon.svg";
import classes from "./layout.module.css";
import { areaOf, guideOf, type Item, navigationOf, waitingQuery } from "./navigation.ts";
import { Palette } from "./palette.tsx";
import { LanguageChoice, ThemeChoice } from "./preferences.tsx";
import { Shortcuts } from "./shortcuts.tsx";

/** The frame of all pages of a person who is signed in. */
export function Layout() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  // The page is loaded again, so that nothing of the person stays in this tab either.
  useEffect(
    () =>
      onOtherPersonElsewhere((personId) =>
        personId === null ? location.replace(paths.signIn()) : location.reload(),
      ),
    [],
  );
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: { base: "100%", sm: 60, lg: 216 }, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className={classes["skip"]} href="#main">
        {t("shell.skip")}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" flex="none">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t("shell.navigation")}
            />
            <TextLink to={paths.overview()} underline="never" c="inherit" aria-label={t("shell.product")}>
              <Group gap={8} wrap="nowrap">
                <img src={icon} width={22} height={22} alt="" />
                <Text fw={600} size="sm" visibleFrom="xs">
                  {t("shell.product")}
                </Text>
              </Group>
            </TextLink>
          </Group>
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Palette />
            <Help />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t("shell.navigation")}>
        <Navigation onFollow={close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} className={classes["main"] ?? ""}>
        <Box maw={1280} mx="auto">
          <OfflineNotice />
          <WorkersNotice />
          <AreaTabs />
          <Outlet />
        </Box>
        <SignInAgain />
        <Shortcuts />
      </AppShell.Main>
    </AppShell>
  );
}

/** The areas of the console. The pages of one are tabs above its lists. */
function Navigation({ onFollow }: { onFollow: () => void }) {
  const { t } = useTranslation();
  const router = useRouter();
  const areas = navigationOf(rolesOf(useMe()));
  const here = areaOf(areas, usePath());
  const waiting = useWaiting();
  const addresses = areas.flatMap(({ items }) => items.map(({ to }) => to)).join(" ");
  useEffect(() => loadPagesWhenIdle(router, addresses.split(" ")), [router, addresses]);
  return areas.map(({ name, icon: Icon, items }) => {
    const [first, second] = items;
    const { sum, text } = waiting(items);
    // An area of one page has the name of the page.
    const label =
      first !== undefined && second === undefined
        ? t(`navigation.${first.name}`)
        : t(`navigation.areas.${name}`);
    return (
      <TextLink
        key={name}
        to={first?.to ?? paths.overview()}
        underline="never"
        c="inherit"
        className={classes["item"] ?? ""}
        title={text === "" ? label : `${label}: ${text}`}
        aria-current={here?.name === name ? "page" : undefined}
        onClick={onFollow}
      >
        <Icon size={18} stroke={1.6} aria-hidden />
        <span className={classes["name"]}>{label}</span>
        {sum !== "" && (
          <span className={classes["count"]} data-figures aria-hidden>
            {sum}
          </span>
        )}
      </TextLink>
    );
  });
}

/** The service counts no further. */
const COUNTED_MAX = 100;

/** How much waits at pages of the navigation: a number for the eye, and in words what it is of. Empty: nothing waits. */
function useWaiting(): (items: readonly Item[]) => { readonly sum: string; readonly text: string } {
  const { t } = useTranslation();
  const { data } = useQuery(waitingQuery(rolesOf(useMe())));
  const shown = (count: number) => (count >= COUNTED_MAX ? `${COUNTED_MAX - 1}+` : String(count));
  return (items) => {
    const counts = items.flatMap(({ waiting }) => {
      const count = (waiting && data?.[waiting]) ?? 0;
      return waiting === undefined || count === 0 ? [] : [{ waiting, count }];
    });
    const sum = counts.reduce((before, { count }) => before + count, 0);
    return {
      sum: sum === 0 ? "" : shown(sum),
      text: counts
        .map(({ waiting, count }) => `${shown(count)} ${t(`navigation.waiting.${waiting}`)}`)
        .join(", "),
    };
  };
}

/** The pages of an area, above each of its lists. A page below them has its way back in its crumbs. */
function AreaTabs() {
  const { t } = useTranslation();
  const path = usePath();
  const area = areaOf(navigationOf(rolesOf(useMe())), path);
  const waiting = useWaiting();
  if (area === undefined || area.items.length < 2 || !area.items.some(({ to }) => to === path)) return null;
  return (
    <div className={classes["areaTabs"]}>
      <Tabs
        label={t(`navigation.areas.${area.name}`)}
        of={area.items.map((item) => [t(`navigation.${item.name}`), item.to, waiting([item])])}
      />
    </div>
  );
}

/** The person looks at the first page before. */
const WAIT_MS = 2_000;

/**
 * Loads the code of these pages while the browser has nothing else to do, one after another, so that a page opened by a
 * key or a tap waits for its data only. Returns a function that stops it.
 */
function loadPagesWhenIdle(router: AnyRouter, addresses: readonly string[]): () => void {
  let isStopped = false;
  const load = async (): Promise<void> => {
    for (const address of addresses) {
      await idle();
      if (isStopped) return;
      const [, , route] = router.getMatchedRoutes(address);
      // What fails now is loaded when the page is opened, and the page reports it.
      await router.loadRouteChunk(route ?? router.routeTree)?.catch(() => undefined);
    }
  };
  const timer = setTimeout(() => void load(), WAIT_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Safari has no such callback. */
const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve());
    else setTimeout(resolve, 200);
  });

/** Seldom enough for a hundred open pages, and often enough to show a stopped worker within half a minute. */
const WORKERS_READ_MS = 8_000;

/** Says to operators and support that no worker runs: on other pages they would only see that nothing moves. */
function WorkersNotice() {
  const { t } = useTranslation();
  const isStaff = useHasRole("operator", "support");
  const { data } = useQuery({
    ...read("/api/system/workers"),
    enabled: isStaff,
    refetchInterval: WORKERS_READ_MS,
    retry: false,
  });
  const since = data?.stoppedSince ?? null;
  if (since === null) return null;
  return (
    <Alert
      role="alert"
      color="red"
      mb="md"
      icon={<IconAlertTriangle size={18} />}
      title={t("shell.noWorker")}
    >
      {t("shell.noWorkerSince")} <Time at={since} />.{" "}
      <TextLink to={paths.system()} inherit>
        {t("navigation.system")}
      </TextLink>
    </Alert>
  );
}

/** Says that the browser has no network, or that a page that follows updates gets none, because what is shown may be old. */
function OfflineNotice() {
  const { t } = useTranslation();
  const { online } = useNetwork();
  const isLost = useSyncExternalStore(updateStream.lost.subscribe, updateStream.lost.current);
  // The stream waits with all other requests until the person has signed in.
  const isSigningIn = useSyncExternalStore(signInGate.subscribe, signInGate.current) !== null;
  return (
    <div aria-live="polite">
      {(!online || (isLost && !isSigningIn)) && (
        <Alert color="yellow" mb="md" icon={<IconPlugConnectedX size={18} />}>
          {t(online ? "shell.updatesLost" : "shell.offline")}
        </Alert>
      )}
    </div>
  );
}

/** The guide about the page that is shown. */
function Help() {
  const { t } = useTranslation();
  const path = usePath();
  const roles = rolesOf(useMe());
  return (
    <Button
      component="a"
      href={guideOf(areaOf(navigationOf(roles), path), path, roles)}
      target="_blank"
      rel="noopener"
      variant="subtle"
      color="gray"
      size="xs"
      px={6}
      title={t("shell.help")}
      aria-label={t("shell.help")}
    >
      <IconHelpCircle size={18} stroke={1.6} aria-hidden />
    </Button>
  );
}

/** Who is signed in, how the console looks to them, and the way out. */
function PersonMenu() {
  const { t } = useTranslation();
  const me = useMe();
  const go = useGo();
  const signOut = useChange({
    run: () => dataOf(api.POST("/auth/sign-out", {})),
    onDone: () => void leaveAllTabs(() => go(paths.signIn())),
  });
  return (
    <Popover position="bottom-end" width={260} trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          leftSection={<IconUserCircle size={18} stroke={1.6} />}
        >
          <Text span inherit truncate maw="14rem" dir="auto">
            {me.name}
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={me.name} maw="calc(100vw - 1rem)">
        <Stack gap="sm">
          <Text size="xs" c="dimmed">
            {t("shell.role", {
              role: rolesOf(me)
                .map((role) => t(`roles.${role}`))
                .join(", "),
            })}
          </Text>
          <ThemeChoice />
          <LanguageChoice />
          {me.type === "person" && (
            <ButtonLink to={paths.account()} size="xs" variant="default">
              {t("account.title")}
            </ButtonLink>
          )}
          {me.type === "person" && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconLogout size={14} />}
              loading={signOut.isPending}
              onClick={() => signOut.mutate()}
            >
              {t("signIn.signOut")}
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
