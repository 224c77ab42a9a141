// A stand-in's dashboards: one of a boiler plant, with a drawing and a map.

import type { Dashboard } from "../src/generated/api";
import type { Handlers } from "./stand";

const path = "campus/plant/boiler1";

/** A single-line diagram, as the node gives it out. */
export const drawing = {
  name: "plant",
  version: 1,
  svg:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200"><g fill="none" stroke="currentColor" stroke-width="3">' +
    '<rect id="boiler" x="30" y="60" width="90" height="90" rx="8"/><path d="M120 80H300V60M120 130H300V150"/>' +
    '<circle cx="300" cy="105" r="45"/></g><g fill="currentColor" font-family="sans-serif" font-size="16">' +
    '<text x="46" y="110">Boiler 1</text><text x="278" y="110">Load</text><text id="supply" x="160" y="70">supply</text>' +
    '<text id="return" x="160" y="155">return</text></g></svg>',
  elements: [
    { id: "boiler", kind: "rect", text: "" },
    { id: "supply", kind: "text", text: "supply" },
    { id: "return", kind: "text", text: "return" },
  ],
};

/** A dashboard with a tile of each kind, one of which has a point that is not there. */
export const boiler: Dashboard = {
  name: "plant",
  title: "Boiler plant",
  sharing: "all",
  tiles: [
    { kind: "value", x: 0, y: 0, w: 3, h: 2, points: [`${path}/supply_temp`], high: 95 },
    { kind: "value", x: 3, y: 0, w: 3, h: 2, points: [`${path}/none`], title: "Taken out" },
    { kind: "gauge", x: 6, y: 0, w: 3, h: 4, points: [`${path}/power`], max: 200, high: 160 },
    {
      ...{ kind: "state", x: 9, y: 0, w: 3, h: 4, title: "States" },
      points: [`${path}/flame`, `${path}/enabled`],
    },
    {
      ...{ kind: "trend", x: 0, y: 2, w: 6, h: 5, range: "1h", title: "Water" },
      points: [`${path}/supply_temp`, `${path}/return_temp`, `${path}/none`],
    },
    {
      ...{ kind: "picture", x: 6, y: 4, w: 6, h: 5, drawing: "plant", title: "Diagram" },
      bindings: [
        { element: "supply", point: `${path}/supply_temp`, show: "text" },
        { element: "return", point: `${path}/return_temp`, show: "text" },
        { element: "boiler", point: `${path}/none`, show: "fill" },
      ],
    },
    { kind: "alarms", x: 0, y: 7, w: 6, h: 3, branch: "campus" },
    {
      ...{ kind: "map", x: 6, y: 9, w: 6, h: 5, title: "Sites" },
      sites: [
        { name: "Berlin", latitude: 52.52, longitude: 13.4, branch: "campus" },
        { name: "Munich", latitude: 48.14, longitude: 11.58 },
        { name: "Hamburg", latitude: 53.55, longitude: 9.99 },
      ],
    },
    { kind: "text", x: 0, y: 10, w: 6, h: 2, title: "Note", text: "Service: second Monday." },
  ],
};

/** Its address on a wall. */
export const wall = "/dashboards/plant?all&kiosk";

/** The answers of a node that keeps one dashboard. */
export const single = (dashboard: Dashboard): Handlers => ({
  "GET dashboards": () => ({
    dashboards: [
      {
        ...{ name: dashboard.name, title: dashboard.title ?? "", sharing: "all" },
        ...{ tiles: dashboard.tiles.length, version: 3, by: "person:ann", wrong: "" },
        at: new Date().toISOString(),
      },
    ],
  }),
  "GET dashboards/one": () => ({
    ...{ dashboard, version: 3, by: "person:ann", at: new Date().toISOString() },
  }),
  "GET drawings": () => ({
    drawings: [{ name: "plant", version: 1, by: "person:ann", at: new Date().toISOString() }],
  }),
  "GET drawings/plant": () => drawing,
});
