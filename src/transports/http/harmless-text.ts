/** Control characters but tab and line breaks, and those that turn the direction of writing. */
const dangerous = /\r(?!\n)|(?![\t\n\r])\p{Cc}|\p{Bidi_Control}/gu

/**
 * What a receiver sent, as text that may be stored, printed on a terminal and shown on a page: nothing in it moves a cursor,
 * changes a colour, rings a bell or makes a line read backwards. PostgreSQL couldn't store a NUL anyway.
 */
export function harmlessText(text: string): string {
  return text.replace(dangerous, '\ufffd')
}
