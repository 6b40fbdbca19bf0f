import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
  rem,
} from "@mantine/core";
import { numberSigns } from "../text/format.ts";

/** The dark: texts, lines, what is raised, the page. */
const dark: MantineColorsTuple = [
  "#d9dde4",
  "#b8bec9",
  "#a3aab6",
  "#6f7787",
  "#2f3541",
  "#262b34",
  "#1d2129",
  "#0f1115",
  "#0b0d10",
  "#08090b",
];

const brand: MantineColorsTuple = [
  "#eef1ff",
  "#dce1fb",
  "#b6c0f2",
  "#8e9dea",
  "#6c7ee3",
  "#5669de",
  "#3b4fd0",
  "#3143b4",
  "#2839a0",
  "#1c2f8b",
];

export const theme = createTheme({
  primaryColor: "brand",
  colors: { brand, dark },
  primaryShade: { light: 6, dark: 5 },
  // Letters that Inter does not have here are those of the system.
  fontFamily: "Inter, 'Inter fallback', system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
  defaultRadius: "md",
  cursorType: "pointer",
  fontSmoothing: true,
  respectReducedMotion: true,
  fontSizes: { xs: rem(12), sm: rem(13), md: rem(14), lg: rem(16), xl: rem(20) },
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: rem(28), lineHeight: "1.25" },
      h2: { fontSize: rem(20), lineHeight: "1.3" },
      h3: { fontSize: rem(20), lineHeight: "1.3" },
      h4: { fontSize: rem(16), lineHeight: "1.4" },
      h5: { fontSize: rem(14), lineHeight: "1.4" },
      h6: { fontSize: rem(13), lineHeight: "1.4" },
    },
  },
  // Below it, the navigation has icons alone.
  breakpoints: { lg: "64em" },
  components: {
    // Two columns of sections are apart without a frame.
    Grid: { defaultProps: { columnGap: rem(40), rowGap: "md" } },
    // The service rejects a number out of range by its rule. A field that clamps made a count of -1 one of 0.
    NumberInput: { defaultProps: () => ({ ...numberSigns(), clampBehavior: "none" }) },
    // All that a pointer can do, the keyboard can too (WCAG 2.2, 2.1.1).
    PasswordInput: { defaultProps: { visibilityToggleFocusable: true } },
    // A screen reader would take the element of a dialog's title for the header of the page.
    ModalHeader: { defaultProps: { role: "presentation" } },
  },
});

/** Messages have the colors of the states (`base.css`). */
const toned = (color: string, tone: string) => ({
  [`--mantine-color-${color}-light`]: `var(--tone-${tone}-area)`,
  [`--mantine-color-${color}-light-hover`]: `var(--tone-${tone}-area)`,
  [`--mantine-color-${color}-light-color`]: `var(--tone-${tone})`,
});

/** Texts have a contrast of 4.5 at least (WCAG 2.2, 1.4.3); some of Mantine's own colors have less. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {
    ...toned("red", "danger"),
    ...toned("orange", "warning"),
    ...toned("yellow", "warning"),
    ...toned("green", "success"),
    ...toned("blue", "info"),
    ...toned("brand", "info"),
  },
  light: {
    "--mantine-color-dimmed": "#5b6472",
    "--mantine-color-placeholder": "#667080",
    "--mantine-color-error": "#c21f26",
    "--mantine-color-anchor": "var(--mantine-color-brand-7)",
  },
  dark: {
    "--mantine-color-dimmed": "#a3aab6",
    "--mantine-color-placeholder": "#9aa1ad",
    "--mantine-color-error": "#ff8787",
    "--mantine-color-anchor": "#a9b6ff",
  },
});

/** `color-scheme.js` reads the same entry before the page is drawn. */
export const colorSchemeManager = localStorageColorSchemeManager({ key: "color-scheme" });

/** The nonce of this page for styles that Mantine and its dialogs make (docs/design/console.md, "Content security policy"). */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
// `react-remove-scroll`, of Mantine's dialogs, reads it from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
