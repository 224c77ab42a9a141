import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { coded } from "../language/codes";
import { Boundary, Fault } from "./boundary";
import { includes } from "./role";
import type { Screen, ScreenProps } from "./screens";

interface StageProps extends ScreenProps {
  /** Whether the node cannot be reached. */
  isAway: boolean;
}

/** The place of the screens: brings the code of the one that is asked for, and says if it cannot. */
export function Stage({ screen, ...props }: StageProps & { screen: Screen | undefined }) {
  if (!screen) return <Nowhere />;
  if (!includes(props.session.role, screen.role)) {
    return <NotAllowed screen={screen} role={props.session.role} />;
  }
  return (
    <Boundary key={screen.path} name={screen.name}>
      <Chunk screen={screen} {...props} />
    </Boundary>
  );
}

type Loaded = { is: "ready"; show: ComponentType<ScreenProps> } | { is: "lost"; why: string };

/** How long after an attempt that failed the next one begins, in milliseconds; the last for all that follow. */
const pauses = [500, 1000, 2000, 5000];

/** A network that changes breaks off what comes: so many attempts may fail before somebody is told. */
const calmly = 2;

/** Shows a screen as soon as its code is there. */
function Chunk({ screen, isAway, ...props }: StageProps & { screen: Screen }) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [attempt, setAttempt] = useState(0);
  // Another attempt loads again
  useEffect(() => {
    let left = false;
    let timer = 0;
    screen
      .load()
      .then((show) => !left && setLoaded({ is: "ready", show }))
      .catch((err: Error) => {
        if (left) return;
        setLoaded({ is: "lost", why: err.message });
        timer = window.setTimeout(() => setAttempt((n) => n + 1), pauses[attempt] ?? pauses.at(-1));
      });
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [screen, attempt]);
  const { epoch } = props;
  const lost = loaded?.is === "lost";
  // So does the return of the node
  useEffect(() => {
    if (lost) setAttempt((n) => n + 1);
  }, [epoch]);

  if (loaded?.is === "ready") return <loaded.show {...props} />;
  if (lost && isAway) return <NotYet screen={screen} />;
  if (!lost || attempt < calmly) return <p class="asking">Loading…</p>;
  return (
    <Fault
      title={`${screen.name} could not be loaded`}
      detail={`${loaded.why}. If the program was upgraded, load the page anew.`}
      onAgain={() => setAttempt(attempt + 1)}
    />
  );
}

const NotYet = ({ screen }: { screen: Screen }) => (
  <div class="card nothing" role="alert">
    <h1>{screen.name} opens when the node is back</h1>
    <p>
      The node cannot be reached, and this browser has not loaded this screen yet. Screens that you
      have visited still open. Nothing is lost that the node has acknowledged.
    </p>
  </div>
);

const Nowhere = () => (
  <div class="card nothing">
    <h1>There is no such screen</h1>
    <p>The address may be cut off, or of another version.</p>
    <p class="actions">
      <a class="button" href="/">
        Go to the overview
      </a>
    </p>
  </div>
);

const NotAllowed = ({ screen, role }: { screen: Screen; role: string }) => (
  <div class="card nothing">
    <h1>{screen.name} is not for this account</h1>
    <p>
      It needs the role {coded(screen.role)}; yours is {coded(role)}. An administrator can change
      that under People.
    </p>
  </div>
);
