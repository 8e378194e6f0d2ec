import { render } from "preact";
import { App } from "./app.tsx";
import { connectOver } from "./link.ts";
import { overHttp } from "./over-http.ts";

connectOver(overHttp);
render(<App />, document.getElementById("page")!);
