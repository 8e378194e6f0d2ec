/** Lines like those of source trees, so that queries match as often as they would there. */
import type { Random } from "../tests/harness/random.ts";

const words =
  "access account action active adapter address agent archive array balance base batch binding block body border branch bridge buffer builder bundle cache callback canvas cell channel chunk client clock cluster code column command commit common config connect content context control cookie copy core count counter create current cursor data date debug decode default delta depth detail device digest direct domain draft driver edge element empty encode engine entry event exact expire export extent factory field file filter final find first flag folder font footer format frame future gate global graph grid group guard handle hash header height helper hidden host icon image import index inner input insert install instance item iterator job join journal key kind label last layer layout leaf length level limit line link list load local lock logger loop machine manager map mark mask match matrix member memory merge message method metric middle mode model module monitor mount name native network next node notice number object offset open option order origin outer output owner packet page panel parent parse part patch path pattern payload peer phase pixel plan player plugin point policy pool port position prefix process profile project prompt proxy public query queue random range rate reader record region release remote render report request reset resolve resource response result retry root route row rule sample scale schema scope screen script second section select sender sequence server service session shape share signal single size slice slot socket sort source span split stack stage start state status step storage stream string style subject suffix symbol system table tag target task template text theme thread ticket time token tool total trace track transfer tree trigger type union unit update upload usage user valid value vector verify version view visible volume wait walker watch weight width window word worker wrapper writer zone".split(
    " ",
  );

const foreignWords =
  "größe prüfung übergabe schlüssel änderung straße naïve déjà élève façade señor año niño ação coração łódź žluťoučký данные строка файл значение сервер запрос ответ ошибка папка ключ λόγος κλειδί αρχείο 文件 数据 搜索 配置 サーバー ファイル 検索 한국어 파일 ✓ → … 🚀".split(
    " ",
  );

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Writes random words and lines, all drawn from one generator. */
class Author {
  readonly #random: Random;
  readonly #words: readonly string[];

  constructor(random: Random, words: readonly string[]) {
    this.#random = random;
    this.#words = words;
  }

  word = (): string => this.#random.pick(this.#words);
  plain = (): string => this.#random.pick(words);
  type = (): string => capital(this.plain()) + capital(this.plain());
  name = (): string => this.plain() + capital(this.plain());
  number = (): number => this.#random.below(10_000);
  prose = (): string => Array.from({ length: 4 + this.#random.below(8) }, this.word).join(" ");

  day(): string {
    const two = (limit: number) => String(1 + this.#random.below(limit)).padStart(2, "0");
    return `20${10 + this.#random.below(16)}-${two(12)}-${two(28)}`;
  }
}

/** The kinds of lines: the frequency of each, and a function that writes one. */
const kinds: readonly (readonly [number, (by: Author) => string])[] = [
  [1500, () => ""],
  [1400, () => "  }"],
  [600, () => "}"],
  [1900, (by) => `  const ${by.name()} = ${by.name()}.${by.name()}(${by.plain()}, ${by.plain()});`],
  [800, (by) => `    if (${by.name()} === ${by.plain()}.${by.plain()}) {`],
  [700, (by) => `      return ${by.name()};`],
  [600, (by) => `  "${by.plain()}": "${by.word()} ${by.word()}",`],
  [900, (by) => ` * ${by.prose()}.`],
  [700, (by) => `  // ${by.prose()}`],
  [350, (by) => `import { ${by.type()} } from "./${by.plain()}-${by.plain()}.ts";`],
  [250, (by) => `  https://${by.plain()}.example.com/${by.plain()}/${by.number()}`],
  [25, (by) => `export function ${by.name()}(${by.plain()}: ${by.type()}): ${by.type()} {`],
  [25, (by) => `    ${by.plain()}.forEach(function (${by.plain()}) {`],
  [22, (by) => `    throw new ${by.type()}Error("${by.prose()}");`],
  [45, (by) => `  ${caps(by)}: ${by.number()},`],
  [6, (by) => ` * @since ${by.day()} ${by.prose()}`],
  [6, (by) => `  // TODO(${by.plain()}): ${by.prose()}`],
];

const caps = (by: Author): string => {
  const long = (): string => {
    const word = by.plain().toUpperCase();
    return word.length < 4 ? `${word}MASK` : word;
  };
  return `${long()}_${long()}_${long()}`;
};

/** Makes `count` lines for use in files. With `foreign`, many of their words are not ASCII. */
export function makeLines(random: Random, count: number, { foreign = false } = {}): string[] {
  const by = new Author(random, foreign ? foreignWords : words);
  const deck = kinds.flatMap(([share, write]) => Array<(by: Author) => string>(share).fill(write));
  return Array.from({ length: count }, () => random.pick(deck)(by));
}

/** Makes one long line of about `bytes` bytes, as minifiers write it. */
export function makeLongLine(random: Random, bytes: number, { foreign = false } = {}): string {
  const by = new Author(random, foreign ? foreignWords : words);
  const parts: string[] = [];
  for (let length = 0; length < bytes; ) {
    const part = `var ${by.name()}=${by.plain()}.${by.plain()}("${by.word()}"),${by.plain()}=new ${by.type()}Error("${by.prose()}");`;
    parts.push(part);
    length += Buffer.byteLength(part);
  }
  return parts.join("");
}

/** Returns a random name for a file or folder. */
export const makeName = (random: Random): string => random.pick(words);
