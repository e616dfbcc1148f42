/** Control characters except tab and line breaks, and characters that change the writing direction. */
const dangerous = /\r(?!\n)|(?![\t\n\r])\p{Cc}|\p{Bidi_Control}/gu

/**
 * A receiver's text, made safe to store, to print on a terminal and to show on a page: it can't move the cursor, change colours, ring
 * the bell or reverse a line. PostgreSQL couldn't store a NUL anyway.
 */
export function harmlessText(text: string): string {
  return text.replace(dangerous, '\ufffd')
}
