/** The page about reading requests, made from the same tables as the reader. */
import { type FieldBound, fieldBounds, maxObjects, objectBounds } from "../requests/field-bounds.ts";
import {
  checkpointFields,
  otherFields,
  synonyms,
  valueSynonyms,
  whenLeftOut,
  zeroIsAbsent,
} from "../requests/synonyms.ts";

/** The rows of a table, its heading first. */
type Rows = readonly (readonly string[])[];

/** Returns the parts of the page; `table` renders rows. */
export const argumentParts = (table: (rows: Rows) => string): string[] => [
  "How requests are read in the profile `agent`, which is the default over MCP. In the profile `contract` they are taken as they are sent.\n",
  "## Unknown fields\n",
  "A field that a function does not have is refused with the reason `unknown_field`, before anything is done: with `unknown_fields: refuse` in the configuration, which is the default of the profile. The error says where the field stood, which one was most likely meant, and up to 12 of those that its tool shows, the most similar first. Fields at the top of a request that begin with `_` belong to the engine, and are accepted.\n",
  "## Names of other tool sets\n",
  "A name in another case is the field of that name: `dryRun` and `dry-run` are `dry_run`. These names are taken too, because they mean exactly the same. The text of an answer says what was read as what: `[read file_path as path]`. If a function has two of the fields, its own names go first.\n",
  table([["field", "also"], ...rowsOf(synonyms)]),
  "Words that fields choose from, which may be in another case as well:\n",
  table([["word", "also"], ...rowsOf(valueSynonyms)]),
  "These names are near to a field and mean something else. They are refused, with what to send:\n",
  table([
    ["name", "where the function has", "send"],
    ...otherFields.map(({ names, field, send }) => [listOf(names), `\`${field}\``, send]),
  ]),
  "## Values of another type\n",
  "What can be turned into the type of the field without a loss is. Everything else is refused. The error says what to send, if that can be derived from what was sent without a loss, and else which form is expected.\n",
  table([
    ["type", "also"],
    ["integer", 'its digits as a string: `"2"`'],
    [`number of a checkpoint (${listOf([...checkpointFields])})`, '`"#2"`, as answers write it'],
    ["boolean", '`"true"` and `"false"`, in any case'],
    [
      "array",
      "its JSON as a string (of up to a million characters in a request), or one item without the array",
    ],
    ["object", "its JSON as a string (likewise)"],
    ["one of several words", "the word in another case"],
  ]),
  "## Placeholders\n",
  'In a field that may be left out, `null` and `""` are as good as nothing sent, and so is `[]` unless the default is an array, and 0 if the smallest value is 1, or in one of these fields:\n',
  table([["function", "fields"], ...rowsOf(zeroIsAbsent, ([id]) => `\`${id}\``)]),
  '\nIn an object that does not have the field, `null` says nothing, and neither do `""`, `[]`, 0 and false in a field that another object of the request has: in strict mode a model sends all fields of all operations.\n',
  "## Shapes\n",
  "The fields of one entry of a required list may stand instead of the list: `{path, content}` for `{files: [{path, content}]}`, `{path, old_str, new_str}` for a file with one edit. An op, or a change of a transaction, without `op` is the one that its fields fit, if they fit one only. A required text that is left out:\n",
  table([
    ["field", "stands for"],
    ...Object.entries(whenLeftOut).map(([name, text]) => [`\`${name}\``, `\`${JSON.stringify(text)}\``]),
  ]),
  "## Paths\n",
  "`./x`, `x/` for a folder and the host path of something that is served are taken. Paths in these forms are read if something of that name is there. Otherwise the error names the path that was meant, if it can be reached, and nothing of that name is made without `literal: true`.\n",
  table([
    ["form", "read as"],
    [
      "`~/x`, `$HOME/x`, `${HOME}/x`",
      "the path below the home folder of the user if that is served, else `x`",
    ],
    ["`$PWD/x`", "`x`"],
    ["`file:///x`", "the host path `/x`"],
    ["`\"x\"`, `'x'` or the same with backticks", "`x`"],
    ["`x:12`, `x:12:5`, `x:12-20`, `x#L12`", "`x`, and line 12"],
    ["`C:\\x`, `C:/x`, `\\\\server\\x`", "no path: the error names the form of one"],
  ]),
  "## Texts\n",
  "`content` and `new_str` whose lines all begin with their numbers, one after the other, are refused without `literal: true`: `12→`, `12 | `, `L12: `, `12: `, or the padded number and a tab of `cat -n`. One line alone is refused in the form `12→` only. A `new_str` is taken if `old_str` is numbered as well.\n",
  "## Bounds\n",
  `A field that is larger than this is refused before anything is done, and so is a request of more than ${maxObjects} objects, an object of more than ${objectBounds.fields} fields, a name of a field of more than ${objectBounds.name} characters, and a key of a map of more than ${objectBounds.key}. A field is named as a JSON pointer or its end, in which \`*\` is each entry.\n`,
  table([["field", "at most"], ...Object.entries(fieldBounds).map(boundRow)]),
  "Texts are counted in UTF-16 units, lists and maps in entries.\n",
  "The field `fs_scope` is taken as it is sent, and never turned into anything.\n",
];

const listOf = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

const boundRow = ([field, bound]: [string, FieldBound]): string[] => [
  `\`${field}\``,
  "max" in bound ? bound.max.toLocaleString("en") : `no bound of its own: ${bound.reason}`,
];

const rowsOf = (
  table: Readonly<Record<string, readonly string[]>>,
  nameOf: (entry: [string, readonly string[]]) => string = ([name]) => `\`${name}\``,
): Rows => Object.entries(table).map((entry) => [nameOf(entry), listOf(entry[1])]);
