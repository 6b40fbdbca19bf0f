import { Button, Kbd, Text, VisuallyHidden } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

const LoadedPalette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));

/** Opens the palette, which is loaded when it is opened first. Ctrl K does the same from anywhere. */
export function PaletteButton() {
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
