/** Named by the types of @viz-js/viz, which can also draw into a page; there is no page here. */
type SVGSVGElement = never;
