/** A regular expression that a schema can't use. The message continues a sentence that begins with the pattern. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PatternError'
  }
}
