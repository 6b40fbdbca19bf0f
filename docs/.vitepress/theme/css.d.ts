/** Vite builds them. */
declare module "*.css";
