/**
 * A payload that is JSON text already. It is stored unchanged, so that numbers keep digits that a JavaScript number would lose.
 *
 * @example
 * await holdfast.publish('order.created', new RawJson('{"id":12345678901234567890}'))
 */
export class RawJson {
  readonly text: string

  /** @param isParsed The caller has parsed this exact text, so it isn't parsed again. */
  constructor(text: string, isParsed = false) {
    if (!isParsed) JSON.parse(text)
    this.text = text
  }
}
