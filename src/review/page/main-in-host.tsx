import { render } from "preact";
import { App } from "./app.tsx";
import { openInHost } from "./host.ts";

const element = document.getElementById("page")!;
void openInHost((hosting) => render(<App hosting={hosting} />, element));
