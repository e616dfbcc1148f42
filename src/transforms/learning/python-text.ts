/** Formats a value as Python's `json.dumps`, with a space after each comma and colon: record stores have texts and ids in this form. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(
      ([name, field]) => `${JSON.stringify(name)}: ${pythonJson(field)}`,
    )
    return `{${fields.join(', ')}}`
  }
  return JSON.stringify(value)
}

/** The same in ASCII, the default of `json.dumps`. */
export function pythonAsciiJson(value: unknown): string {
  return pythonJson(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Formats a value as Python's `repr`: `{'a': ['b', None]}`. */
export function pythonRepr(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(([name, field]) => `${quoted(name)}: ${pythonRepr(field)}`)
    return `{${fields.join(', ')}}`
  }
  return JSON.stringify(value)
}

const named: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(/[\\\n\r\t]/g, (character) => named[character] ?? character)
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote
}
