import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApprovalsView } from "./approvals.tsx";
import { CheckpointView, OutsideView, SessionView, SinceView } from "./changes-view.tsx";
import { FilesView } from "./files-view.tsx";
import type { Hosting } from "./hosting.ts";
import { currentLink, type LinkState } from "./link.ts";
import { readWaiting, type WaitingCall } from "./over-http.ts";
import { currentRoute, go, onRoute, type Route, renderRoute } from "./route.ts";
import { type Item, keyOf, type OutsideBatch, TimelineView } from "./timeline.tsx";
import { UndoDialog, type UndoProposal } from "./undo-dialog.tsx";
import { type Timeline, useTimeline } from "./use-timeline.ts";
import { type Info, readInfo, readOutside } from "./worker.ts";

/** Batches of other programs' changes that are kept. */
const maxOutside = 200;

interface AppProps {
  /** Absent on a page of its own. */
  readonly hosting?: Hosting | undefined;
}

/** Renders the whole page: a list on one side, the chosen item on the other. */
export function App({ hosting }: AppProps) {
  const route = useRoute();
  const path = route.view === "timeline" ? (route.path ?? "") : "";
  const timeline = useTimeline(path);
  const [info, setInfo] = useState<Info>();
  const [outside, setOutside] = useState<readonly OutsideBatch[]>([]);
  const [proposed, setProposed] = useState<{ readonly id: number; readonly proposal: UndoProposal }>();
  const propose = (proposal: UndoProposal) =>
    setProposed((before) => ({ id: (before?.id ?? 0) + 1, proposal }));
  const [notice, setNotice] = useState("");
  const noticeTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [waiting, setWaiting] = useState<readonly WaitingCall[]>([]);
  const [turn, setTurn] = useState(0);
  const refresh = useRef(timeline.refresh);
  refresh.current = timeline.refresh;
  const onChange = useCallback(() => {
    refresh.current();
    setTurn((before) => before + 1);
    readInfo().then(setInfo, () => {});
  }, []);
  const connection = useLive({ onChange, onWaiting: setWaiting }, (batch) =>
    setOutside((known) => [batch, ...known].slice(0, maxOutside)),
  );
  const onDone = (sentence: string) => {
    setProposed(undefined);
    setNotice(sentence);
    // The end of an earlier notice would take this one away too soon.
    clearTimeout(noticeTimer.current);
    noticeTimer.current = setTimeout(() => setNotice(""), noticeMilliseconds);
    onChange();
  };
  const canUndo = info?.functions.includes("coder::undo") !== false;
  return (
    <div class={classesOf(route, hosting)}>
      <Top {...{ route, connection, hosting }} newest={timeline.checkpoints[0]?.seq} />
      <Banner {...{ connection, info, hosting }} />
      <ApprovalsView waiting={waiting} onAnswered={onDone} />
      <View {...{ route, timeline, outside, turn }} onUndo={canUndo ? propose : undefined} />
      <p class="notice" role="status">
        {notice}
      </p>
      {proposed !== undefined && (
        <UndoDialog
          key={proposed.id}
          {...proposed.proposal}
          // The event of a closed dialog comes a moment later, when the next one may be open.
          onClose={() => setProposed((now) => (now === proposed ? undefined : now))}
          onDone={onDone}
        />
      )}
    </div>
  );
}

/** The time that a notice stays, long enough to be read. */
const noticeMilliseconds = 8000;

function classesOf(route: Route, hosting: Hosting | undefined): string {
  const isInline = hosting !== undefined && !hosting.isFullScreen;
  return ["page", ...(hasDetail(route) ? ["has-detail"] : []), ...(isInline ? ["inline"] : [])].join(" ");
}

/** Returns whether something is chosen, which a narrow window shows in place of the list. */
const hasDetail = ({ view, seq, path }: Route): boolean =>
  view === "timeline" ? seq !== undefined : view !== "files" || path !== undefined;

interface ViewProps {
  readonly route: Route;
  readonly timeline: Timeline;
  readonly outside: readonly OutsideBatch[];
  readonly turn: number;
  readonly onUndo: ((proposal: UndoProposal) => void) | undefined;
}

function View(props: ViewProps) {
  const { route, turn, onUndo } = props;
  switch (route.view) {
    case "timeline":
      return <TimelinePage {...props} />;
    case "since":
      return (
        <main class="one">
          <SinceView seq={route.seq ?? 0} turn={turn} />
        </main>
      );
    case "session":
      return (
        <main class="one">
          <SessionView session={route.session ?? ""} turn={turn} onUndo={onUndo} />
        </main>
      );
    case "files":
      return (
        <main class="two">
          <FilesView path={route.path ?? ""} line={route.line} turn={turn} />
        </main>
      );
  }
}

function TimelinePage({ route, timeline, outside, onUndo }: ViewProps) {
  const [batch, setBatch] = useState<OutsideBatch>();
  const { seq, path = "" } = route;
  const choose = (item: Item) => {
    setBatch(item.kind === "outside" ? item.batch : undefined);
    const chosen = item.kind === "outside" ? 0 : item.checkpoint.seq;
    go({ view: "timeline", seq: chosen, path: path || undefined }, seq !== undefined);
  };
  // Checkpoints are numbered from 1; changes of other programs have no number.
  const shownBatch = seq === 0 ? batch : undefined;
  return (
    <main class="two">
      <TimelineView
        {...{ timeline, outside, path }}
        chosen={shownBatch === undefined ? seq?.toString() : keyOf({ kind: "outside", batch: shownBatch })}
        onChoose={choose}
        onPath={(next) => go({ view: "timeline", path: next || undefined })}
      />
      <div class="detail">
        <Back to={{ view: "timeline", path: path || undefined }} />
        {shownBatch !== undefined && <OutsideView batch={shownBatch} />}
        {seq !== undefined && seq > 0 && <CheckpointView seq={seq} path={path} onUndo={onUndo} />}
        {seq === undefined && timeline.checkpoints.length > 0 && <Welcome />}
      </div>
    </main>
  );
}

interface TopProps extends AppProps {
  readonly route: Route;
  readonly connection: LinkState;
  readonly newest: number | undefined;
}

const connectionWords: Readonly<Record<Exclude<LinkState, "hosted">, string>> = {
  live: "Live",
  connecting: "Connecting",
  gone: "Not connected",
};

function Top({ route, connection, newest, hosting }: TopProps) {
  const link = (text: string, to: Route) => (
    <a href={renderRoute(to)} aria-current={route.view === to.view ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <header class="top">
      <h1>
        coder <span>review</span>
      </h1>
      <nav aria-label="Views">
        {link("Timeline", { view: "timeline" })}
        {link("Compare", {
          view: "since",
          seq: route.view === "since" ? route.seq : Math.max(0, (newest ?? 0) - 10),
        })}
        {link("Files", { view: "files" })}
      </nav>
      <span class="spring" />
      {connection !== "hosted" && (
        <span class={`connection ${connection}`} role="status" aria-label="Connection">
          {connectionWords[connection]}
        </span>
      )}
      {hosting?.onFullScreen !== undefined && (
        <button type="button" onClick={() => hosting.onFullScreen!(!hosting.isFullScreen)}>
          {hosting.isFullScreen ? "Leave full screen" : "Full screen"}
        </button>
      )}
    </header>
  );
}

interface BannerProps extends AppProps {
  readonly connection: LinkState;
  readonly info: Info | undefined;
}

function Banner({ connection, info, hosting }: BannerProps) {
  if (connection === "gone")
    return (
      <p class="banner" role="alert">
        The worker does not answer, so this may be out of date. The page goes on by itself when the worker is
        back at this address; after a restart with another one, open the address that it prints.
      </p>
    );
  if (info !== undefined && !info.journal.enabled)
    return (
      <p class="banner" role="alert">
        This worker keeps no journal, so there is nothing to compare or undo
        {info.journal.reason === undefined
          ? "; set the key journal of its configuration."
          : `: ${info.journal.reason}`}
      </p>
    );
  if (hosting?.call === "running") return <p class="banner">The call has not ended yet.</p>;
  if (hosting?.call === "no-checkpoint")
    return <p class="banner">This call left no checkpoint, so there is nothing of it to see or undo.</p>;
  return null;
}

/** Leads back to the list in a window that is too narrow for both. */
function Back({ to }: { readonly to: Route }) {
  return (
    <a class="back" href={renderRoute(to)}>
      ← Timeline
    </a>
  );
}

function Welcome() {
  return (
    <p class="empty quiet">
      Choose a checkpoint to see what it changed. <kbd>↑</kbd> <kbd>↓</kbd> go through the list.
    </p>
  );
}

function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  // Other effects wait for the next frame, and a host can change the route before it.
  useLayoutEffect(() => onRoute(() => setRoute(currentRoute())), []);
  return route;
}

interface Listeners {
  readonly onChange: () => void;
  readonly onWaiting: (waiting: readonly WaitingCall[]) => void;
}

/**
 * Follows the worker. Calls `onChange` after changes and when the worker is back, and `onOutside` for changes
 * of other programs.
 */
function useLive({ onChange, onWaiting }: Listeners, onOutside: (batch: OutsideBatch) => void): LinkState {
  const [connection, setConnection] = useState<LinkState>("connecting");
  const outside = useRef(onOutside);
  outside.current = onOutside;
  useEffect(() => {
    let place: string | undefined;
    let count = 0;
    const read = async () => {
      const { changes, next } = await readOutside(place);
      place = next;
      if (changes.length > 0) outside.current({ id: ++count, time: new Date(), changes });
    };
    let reading = Promise.resolve();
    const readNext = () => {
      reading = reading.then(read).catch(() => {
        place = undefined;
      });
    };
    const readApprovals = () => void readWaiting().then(onWaiting, () => onWaiting([]));
    return currentLink().follow({
      onChange() {
        onChange();
        readNext();
      },
      onState(state) {
        setConnection(state);
        if (state !== "live") return onWaiting([]);
        onChange();
        readNext();
        readApprovals();
      },
      onApprovals: readApprovals,
    });
  }, [onChange, onWaiting]);
  return connection;
}
