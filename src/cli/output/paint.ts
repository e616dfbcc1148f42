export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
/** Node's types promise a boolean, but the field is undefined if the stream isn't a terminal. */
export function isTerminal(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true
}

export type Paint = (colour: Colour, text: string) => string

const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

const paint: Paint = (colour, text) => `\u001b[${codes[colour][0]}m${text}\u001b[${codes[colour][1]}m`
const plain: Paint = (_, text) => text

/** Colours, if the terminal allows them (https://no-color.org). */
export function paintFor(
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): Paint {
  return hasColour(isTerminal, environment) ? paint : plain
}

export function hasColour(
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb'
}
