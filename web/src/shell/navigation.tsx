import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../api";
import { count } from "../format";
import type { Counts } from "../generated/api";
import { markOf } from "../health";
import { coded } from "../language/codes";
import { LanguageSwitch } from "../language/switch";
import { Mark } from "../mark";
import { Icon } from "./icons";
import { type Jump, JumpButton } from "./jump";
import type { Part } from "./parts";
import { includes } from "./role";
import { groups, type Screen, screens } from "./screens";
import { type Theme, useTheme } from "./theme";

interface Props {
  session: Session;
  /** The parts that the node has. */
  parts: ReadonlySet<Part>;
  /** The screen that is shown. */
  here: Screen | undefined;
  /** How many there are of what is not well; undefined until the first answer. */
  counts: Counts | undefined;
  jump: Jump;
  onLogOut(): void;
}

const addressOf = (screen: Screen) => `/${screen.path}`;

const visibleTo = (session: Session, parts: ReadonlySet<Part>) =>
  screens.filter(
    (s) => s.place !== "link" && includes(session.role, s.role) && (!s.part || parts.has(s.part)),
  );

/** The way to the screens at the side of a laptop. */
export function Rail({ session, parts, here, counts, jump, onLogOut }: Props) {
  return (
    <nav class="rail" aria-label="Screens">
      <a class="brand" href="/" aria-label="Voltbus, overview">
        <Mark /> <span aria-hidden="true">Voltbus</span>
      </a>
      <JumpButton jump={jump} />
      <div class="ways">
        <Groups shown={visibleTo(session, parts)} here={here} counts={counts} />
      </div>
      <div class="rail-foot">
        <ThemeSwitch />
        <LanguageSwitch />
        <Account session={session} onLogOut={onLogOut} />
      </div>
    </nav>
  );
}

/** The way to the screens at the bottom of a phone: the most wanted, the others behind "More". */
export function Bar({ session, parts, here, counts, onLogOut }: Props) {
  const sheet = useRef<HTMLDialogElement>(null);
  // Whoever arrived is done with the sheet
  useEffect(() => sheet.current?.close(), [here]);
  const shown = visibleTo(session, parts);
  const rest = shown.filter((s) => s.place === "more");
  return (
    <nav class="bar" aria-label="Screens">
      <ul>
        {shown
          .filter((s) => s.place === "bar")
          .map((s) => (
            <li key={s.path}>
              <Way screen={s} here={here} counts={counts} />
            </li>
          ))}
        <li>
          <button
            type="button"
            class={`way${here && rest.includes(here) ? " is-here" : ""}`}
            aria-haspopup="dialog"
            onClick={() => sheet.current?.showModal()}
          >
            <Icon name="more" />
            <span>More</span>
            {counts && rest.some((s) => markOf(s.path, counts)) && <MoreMark />}
          </button>
        </li>
      </ul>
      <dialog ref={sheet} class="sheet" aria-label="More screens">
        <Groups shown={rest} here={here} counts={counts} />
        <ThemeSwitch />
        <LanguageSwitch />
        <Account session={session} onLogOut={onLogOut} />
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </nav>
  );
}

interface GroupsProps {
  shown: readonly Screen[];
  here: Screen | undefined;
  counts: Counts | undefined;
}

/** The ways under the headings of their groups. */
function Groups({ shown, here, counts }: GroupsProps) {
  return groups
    .map((group) => ({ group, of: shown.filter((s) => s.group === group) }))
    .filter(({ of }) => of.length > 0)
    .map(({ group, of }) => (
      <section key={group} aria-label={group}>
        <p class="group" aria-hidden="true">
          {group}
        </p>
        <ul>
          {of.map((s) => (
            <li key={s.path}>
              <Way screen={s} here={here} counts={counts} />
            </li>
          ))}
        </ul>
      </section>
    ));
}

interface WayProps {
  screen: Screen;
  here: Screen | undefined;
  counts: Counts | undefined;
}

function Way({ screen, here, counts }: WayProps) {
  return (
    <a
      class="way"
      href={addressOf(screen)}
      title={screen.key ? `${screen.name} (g ${screen.key})` : screen.name}
      {...(screen === here ? { "aria-current": "page" as const } : {})}
    >
      <Icon name={screen.icon} />
      <span>{screen.name}</span>
      <ScreenMark path={screen.path} counts={counts} />
    </a>
  );
}

/** How many things wait for somebody on a screen; nothing if none does. */
function ScreenMark({ path, counts }: { path: string; counts: Counts | undefined }) {
  const mark = markOf(path, counts);
  if (!mark) return null;
  return (
    <span class={`alert-mark is-${mark.level}`}>
      <span class="unseen">{mark.text}</span>
      <span aria-hidden="true">{mark.count > 99 ? "99+" : count(mark.count)}</span>
    </span>
  );
}

/** Says that something waits on a screen behind "More". */
const MoreMark = () => (
  <span class="alert-mark is-warn">
    <span class="unseen">something to look at</span>
    <span aria-hidden="true">!</span>
  </span>
);

const themes = [
  { theme: "system", icon: "system", label: "Colours as the system has them" },
  { theme: "light", icon: "sun", label: "Light colours" },
  { theme: "dark", icon: "moon", label: "Dark colours" },
] as const satisfies { theme: Theme; icon: string; label: string }[];

/** Three buttons: as the system, light, dark. */
export function ThemeSwitch() {
  const [chosen, choose] = useTheme();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-label="Colours" class="joined themes">
      {themes.map(({ theme, icon, label }) => (
        <button
          key={theme}
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={chosen === theme}
          onClick={() => choose(theme)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

function Account({ session, onLogOut }: { session: Session; onLogOut(): void }) {
  return (
    <div class="account">
      <span class="account-name" title={`Logged in as ${session.user}, ${coded(session.role)}`}>
        <strong>{session.user}</strong>
        <span class="quiet">{coded(session.role)}</span>
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label="Log out"
        title="Log out"
        onClick={onLogOut}
      >
        <Icon name="leave" />
      </button>
    </div>
  );
}
