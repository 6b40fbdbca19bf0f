/** An icon of Tabler by its name on https://tabler.io/icons (web/build/icons.ts). The build rejects a name that it does not have. */
declare module "icon:*" {
  const icon: import("./ui/icon.tsx").Icon;
  export default icon;
}
