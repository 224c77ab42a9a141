import { render } from "preact";
import { Api } from "./api";
import { App } from "./app";
import "uplot/dist/uPlot.min.css";
import "./style/index.css";

const root = document.getElementById("app");
if (root) render(<App api={new Api()} />, root);
