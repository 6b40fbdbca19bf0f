import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { TryIt } from "./try-it/try-it.ts";
import "./style.css";
import "./try-it/try-it.css";

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component("TryIt", TryIt),
} satisfies Theme;
