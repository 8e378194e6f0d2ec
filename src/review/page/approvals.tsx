import { useMemo, useState } from "preact/hooks";
import { DiffView } from "./diff/diff-view.tsx";
import { answerWaiting, type WaitingCall } from "./over-http.ts";
import { visible } from "./words.ts";
import type { ChangedFile } from "./worker.ts";

interface ApprovalsProps {
  readonly waiting: readonly WaitingCall[];
  readonly onAnswered: (sentence: string) => void;
}

/** Renders the calls that wait for approval. */
export function ApprovalsView({ waiting, onAnswered }: ApprovalsProps) {
  if (waiting.length === 0) return null;
  return (
    <section class="approvals" aria-label="Waiting for approval">
      {waiting.map((one) => (
        <ApprovalView key={one.id} call={one} onAnswered={onAnswered} />
      ))}
    </section>
  );
}

interface ApprovalViewProps extends Pick<ApprovalsProps, "onAnswered"> {
  readonly call: WaitingCall;
}

function ApprovalView({ call, onAnswered }: ApprovalViewProps) {
  const [isBusy, setBusy] = useState(false);
  const files = useMemo(() => filesIn(call.diff), [call.diff]);
  const answer = (verdict: "yes" | "no") => {
    setBusy(true);
    answerWaiting(call.id, verdict).then((outcome) => {
      if (outcome === "gone") onAnswered("Somebody else has answered, or the call has ended.");
      else onAnswered(verdict === "yes" ? "Approved." : "Declined.");
    });
  };
  return (
    <article aria-label={`Call of ${call.function}`}>
      <div role="alert">
        <h2>
          {visible(call.author)} asks to call {call.function}
        </h2>
        <ul>
          {call.summary.map((line, index) => (
            <li key={index}>
              <bdi>{visible(line)}</bdi>
            </li>
          ))}
        </ul>
      </div>
      {files.length > 0 && <DiffView files={files} label="What it would change" />}
      {call.isDiffCut && <p class="quiet">More would change than is shown.</p>}
      <div class="actions">
        <button type="button" class="primary" disabled={isBusy} onClick={() => answer("yes")}>
          Approve
        </button>
        <button type="button" disabled={isBusy} onClick={() => answer("no")}>
          Decline
        </button>
      </div>
    </article>
  );
}

/** Splits a patch of several files in git's format. */
function filesIn(diff: string): ChangedFile[] {
  return diff.split(/^(?=diff --git )/m).flatMap((part) => {
    const name = /^(?:\+\+\+ b|--- a|rename to )\/?(.+)$/m.exec(part.replace("+++ /dev/null", ""))?.[1];
    return name === undefined ? [] : [{ path: name, kind: "modified" as const, diff: part }];
  });
}
