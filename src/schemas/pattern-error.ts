/** A regular expression that a schema can't use. The message goes on after the name of the pattern. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PatternError'
  }
}
