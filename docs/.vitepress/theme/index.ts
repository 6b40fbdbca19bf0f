import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { rememberExampleForm } from "./example-forms.ts";
import { weighSearch } from "./search-weights.ts";
import "./style.css";

export default {
  extends: DefaultTheme,
  setup: rememberExampleForm,
  enhanceApp: ({ siteData }) => weighSearch(siteData.value),
} satisfies Theme;
