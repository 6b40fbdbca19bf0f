import { AppShell, Box, Burger, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../api/me.ts";
import { onOtherPersonElsewhere } from "../api/other-tabs.ts";
import { paths } from "../paths.ts";
import { SignInAgain } from "../sign-in/sign-in-again.tsx";
import { NavigationLink, TextLink } from "../ui/link.tsx";
import icon from "./icon.svg";
import classes from "./layout.module.css";
import { loadPagesWhenIdle } from "./load-pages.ts";
import { navigationOf } from "./navigation.ts";
import { OfflineNotice } from "./offline-notice.tsx";
import { PaletteButton } from "./palette-button.tsx";
import { PersonMenu } from "./person-menu.tsx";
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
