import { render } from "preact";
import { Api } from "./api";
import { App } from "./app";
import { markLanguage } from "./language/words";
import { followTheme } from "./shell/theme";
import { installWorker } from "./shell/worker";
import "./style/index.css";

followTheme();
installWorker();
markLanguage();
const root = document.getElementById("app");
if (root) render(<App api={new Api()} />, root);
