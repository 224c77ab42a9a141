import { render } from "preact";
import { Api } from "./api";
import { App } from "./app";
import { markLanguage } from "./language/words";
import { screenAt } from "./shell/screens";
import { followTheme } from "./shell/theme";
import { installWorker } from "./shell/worker";
import "./style/index.css";

followTheme();
installWorker();
markLanguage();
// The code of the screen comes while the page asks who is logged in, not after it
void screenAt(location.pathname)
  ?.load()
  .catch(() => undefined); // the screen says it when it is shown
const root = document.getElementById("app");
if (root) render(<App api={new Api()} />, root);
