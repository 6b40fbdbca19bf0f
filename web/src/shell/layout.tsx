import {
  Alert,
  AppShell,
  Box,
  Burger,
  Button,
  Group,
  Kbd,
  Modal,
  Popover,
  Stack,
  Text,
  VisuallyHidden,
} from "@mantine/core";
import { useDisclosure, useHotkeys, useNetwork } from "@mantine/hooks";
import { IconLogout, IconPlugConnectedX, IconSearch, IconUserCircle } from "@tabler/icons-react";
import { type AnyRouter, Outlet, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { rolesOf, useMe } from "../api/me.ts";
import { leaveAllTabs, onOtherPersonElsewhere } from "../api/other-tabs.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { updateStream } from "../api/updates.ts";
import { useChange } from "../api/use-change.ts";
import { paths } from "../paths.ts";
import { SignInAgain } from "../sign-in/sign-in-again.tsx";
import { ButtonLink, NavigationLink, TextLink, useGo } from "../ui/link.tsx";
import icon from "./icon.svg";
import classes from "./layout.module.css";
import { navigationOf } from "./navigation.ts";
import { LanguageChoice, ThemeChoice } from "./preferences.tsx";

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
      navbar={{ width: 216, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
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
            <PaletteButton />
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
          <Outlet />
        </Box>
        <SignInAgain />
        <Shortcuts />
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ onFollow }: { onFollow: () => void }) {
  const { t } = useTranslation();
  const router = useRouter();
  const groups = navigationOf(rolesOf(useMe()));
  const addresses = groups.flatMap(({ items }) => items.map(({ to }) => to)).join(" ");
  useEffect(() => loadPagesWhenIdle(router, addresses.split(" ")), [router, addresses]);
  return groups.map(({ name, items }) => (
    <Box key={name} mb="sm">
      {groups.length > 1 && (
        <Text size="xs" c="dimmed" px="xs" pb={4}>
          {t(`navigation.groups.${name}`)}
        </Text>
      )}
      {items.map(({ name, to, icon: Icon, isExact = false }) => (
        <NavigationLink
          key={name}
          to={to}
          isExact={isExact}
          className={classes["item"] ?? ""}
          label={t(`navigation.${name}`)}
          leftSection={<Icon size={16} stroke={1.6} aria-hidden />}
          onClick={onFollow}
        />
      ))}
    </Box>
  ));
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

const LoadedPalette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));

/** Opens the palette, which is loaded when it is opened first. Ctrl K does the same from anywhere. */
function PaletteButton() {
  const { t } = useTranslation();
  const [isLoaded, setLoaded] = useState(false);
  const open = async () => {
    const { palette } = await import("./palette-store.ts");
    setLoaded(true);
    palette.open();
  };
  useHotkeys([["mod+K", () => void open()]], []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        c="dimmed"
        flex="none"
        leftSection={<IconSearch size={14} />}
        onClick={() => void open()}
      >
        <VisuallyHidden hiddenFrom="sm">{t("palette.open")}</VisuallyHidden>
        <Text size="xs" visibleFrom="sm" pr={24}>
          {t("palette.open")}
        </Text>
        <Kbd size="xs" visibleFrom="sm">
          Ctrl K
        </Kbd>
      </Button>
      {isLoaded && (
        <Suspense>
          <LoadedPalette />
        </Suspense>
      )}
    </>
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
          <Text span inherit truncate maw="14rem">
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

/** How long after `g` the letter of a page counts. */
const SEQUENCE_MS = 1_500;
/** A scanner types the next letter sooner: its codes contain letters of pages, and open none. */
const SCANNER_MS = 60;

/** The keys that work on every page, and their list by `?`. */
function Shortcuts() {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure(false);
  const pages = navigationOf(rolesOf(useMe()))
    .flatMap(({ items }) => items)
    .flatMap(({ name, to, key }) => (key === undefined ? [] : [{ name, to, key }]));
  usePageKeys(pages);
  useHotkeys([
    ["shift+?", open],
    ["?", open],
    ["/", () => document.querySelector<HTMLElement>("[data-search-filter]")?.focus()],
  ]);
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl K", t("shortcuts.palette")],
    ["/", t("shortcuts.search")],
    ["j", t("shortcuts.next")],
    ["k", t("shortcuts.previous")],
    ["Enter", t("shortcuts.open")],
    ...pages.map(({ name, key }) => [`g ${key}`, t(`navigation.${name}`)] as const),
    ["?", t("shortcuts.list")],
  ];
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t("shortcuts.title")}
      size="sm"
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      <Stack gap={6}>
        {keys.map(([key, what]) => (
          <div key={key} className={classes["shortcut"]}>
            <Text size="sm">{what}</Text>
            <span>
              {key.split(" ").map((part) => (
                <Kbd key={part} size="xs" ml={4}>
                  {part}
                </Kbd>
              ))}
            </span>
          </div>
        ))}
      </Stack>
    </Modal>
  );
}

/** `g` and then the letter of a page opens it. */
function usePageKeys(pages: readonly { readonly to: string; readonly key: string }[]): void {
  const go = useGo();
  const begunAtMs = useRef(Number.NEGATIVE_INFINITY);
  const current = useRef({ go, pages });
  current.current = { go, pages };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = (event: KeyboardEvent) => {
      clearTimeout(timer);
      const target = event.target as Element; // Keys are pressed on an element.
      if (target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isSequence = event.timeStamp - begunAtMs.current < SEQUENCE_MS;
      begunAtMs.current = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const page = current.current.pages.find(({ key }) => key === event.key);
      if (isSequence && page !== undefined)
        timer = setTimeout(() => void current.current.go(page.to), SCANNER_MS);
    };
    document.addEventListener("keydown", listen);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("keydown", listen);
    };
  }, []);
}
