/** A reason why checks of the official conformance suite do not apply here, and their error messages. */
export interface NotApplicable {
  readonly why: string;
  readonly says: RegExp;
  /** The checks with that reason, each as `scenario/check`. */
  readonly checks: readonly string[];
}

export const notApplicable: readonly NotApplicable[] = [
  {
    why: "They call a tool that servers have for the suite alone, or need what such a tool answered before.",
    says: /There is no tool "(test|json)_|diagnostic tool 'test_|Tool 'json_schema_2020_12_tool' not found|Expected InputRequiredResult|Prerequisite failed: could not get initial InputRequiredResult|instead of re-requesting via InputRequiredResult/,
    checks: [
      "tools-call-audio/tools-call-audio",
      "tools-call-elicitation/tools-call-elicitation",
      "tools-call-embedded-resource/tools-call-embedded-resource",
      "tools-call-error/tools-call-error",
      "tools-call-image/tools-call-image",
      "tools-call-mixed-content/tools-call-mixed-content",
      "tools-call-sampling/tools-call-sampling",
      "tools-call-simple-text/tools-call-simple-text",
      "tools-call-with-progress/tools-call-with-progress",
      "elicitation-sep1034-defaults/elicitation-sep1034-general",
      "elicitation-sep1330-enums/elicitation-sep1330-general",
      "json-schema-2020-12/json-schema-2020-12-tool-found",
      "input-required-result-basic-elicitation/sep-2322-elicitation-incomplete",
      "input-required-result-basic-list-roots/sep-2322-list-roots-incomplete",
      "input-required-result-basic-sampling/sep-2322-sampling-incomplete",
      "input-required-result-capability-check/sep-2322-respect-client-capabilities",
      "input-required-result-ignore-extra-params/sep-2322-ignore-unexpected-params",
      "input-required-result-missing-input-response/sep-2322-missing-response-rerequests",
      "input-required-result-multi-round/sep-2322-multi-round-r1",
      "input-required-result-multiple-input-requests/sep-2322-multiple-inputs-incomplete",
      "input-required-result-request-state/sep-2322-request-state-incomplete",
      "input-required-result-result-type/sep-2322-result-type-included",
      "input-required-result-tampered-state/sep-2322-reject-tampered-state",
      "server-stateless/sep-2575-server-rejects-undeclared-capability",
      "server-stateless/sep-2575-missing-capability-http-400",
      "server-stateless/sep-2575-http-server-no-independent-requests-on-stream",
      "server-stateless/sep-2575-server-no-log-without-loglevel",
    ],
  },
  {
    why: "They read, or subscribe to, a resource that servers have for the suite alone; those of this one are files.",
    says: /The address "test:\/\/\S+" is not the address of a file here/,
    checks: [
      "resources-read-binary/resources-read-binary",
      "resources-read-text/resources-read-text",
      "resources-templates-read/resources-templates-read",
      "resources-subscribe/resources-subscribe",
      "resources-unsubscribe/resources-unsubscribe",
    ],
  },
  {
    why: "The server has no prompts, and does not say that it has.",
    says: /Method not found/,
    checks: [
      "prompts-list/prompts-list",
      "prompts-get-simple/prompts-get-simple",
      "prompts-get-with-args/prompts-get-with-args",
      "prompts-get-embedded-resource/prompts-get-embedded-resource",
      "prompts-get-with-image/prompts-get-with-image",
      "caching/sep-2549-prompts-list-caching-hints",
      "input-required-result-non-tool-request/sep-2322-non-tool-incomplete",
    ],
  },
  {
    why: "The log is the operator's, not the client's: the server does not say that it has logging.",
    says: /Method not found/,
    checks: ["logging-set-level/logging-set-level", "tools-call-with-logging/tools-call-with-logging"],
  },
  {
    why: "No argument of a tool is sent as a header.",
    says: /exposes no tool with x-mcp-header/,
    checks: [
      "http-custom-header-server-validation/sep-2243-server-no-xmcp-tool",
      "http-custom-header-server-validation/sep-2243-server-decode-base64",
      "http-custom-header-server-validation/sep-2243-server-validate-param-match",
      "http-custom-header-server-validation/sep-2243-server-reject-invalid-param-chars",
      "http-custom-header-server-validation/sep-2243-server-reject-param-mismatch",
    ],
  },
  {
    why: "Answers are not kept for clients that come back for them, which is recommended and would take memory.",
    says: /This is recommended for/,
    checks: ["server-sse-polling/server-sse-priming-event", "server-sse-polling/server-sse-retry-field"],
  },
  {
    why: "The tools never change while the server runs, and prompts there are none.",
    says: /^$/,
    checks: [
      "server-stateless/sep-2575-server-sends-prompts-list-changed-on-subscription",
      "server-stateless/sep-2575-server-sends-tools-list-changed-on-subscription",
    ],
  },
];
