/** A flag of `holdfast endpoints create` and `update`. */
export interface EndpointFlag {
  /** The flag in commander's syntax: `--max-pending <number>`. */
  readonly flag: string
  /** The field that the flag sets. */
  readonly sets: string
  readonly about: string
  /** The type of its value: text by default; `texts` and `headers` may be repeated. */
  readonly reads?: 'wholeNumber' | 'decimalNumber' | 'texts' | 'headers'
}
