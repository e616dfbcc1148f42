import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactHeaders, redactUrl, responseExcerpt, textExcerpt } from './excerpt.ts'

describe('textExcerpt', () => {
  it('never exceeds its bytes, never splits a character, and leaves short texts alone', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 })
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 80 }), (original, maxBytes) => {
        const excerpt = textExcerpt(original, maxBytes)
        expect(Buffer.byteLength(excerpt.text)).toBeLessThanOrEqual(maxBytes)
        expect(original.startsWith(excerpt.text)).toBe(true)
        expect(excerpt.isTruncated).toBe(Buffer.byteLength(original) > maxBytes)
        if (!excerpt.isTruncated) expect(excerpt.text).toBe(original)
      }),
    )
  })

  it('uses the room it has: the next character would not fit', () => {
    expect(textExcerpt('aé€', 5)).toEqual({ text: 'aé', isTruncated: true })
    expect(textExcerpt('aé€', 6)).toEqual({ text: 'aé€', isTruncated: false })
  })
})

describe('responseExcerpt', () => {
  it('makes text of any bytes, within its bound, that PostgreSQL can store and a terminal can show', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.integer({ min: 0, max: 64 }), (bytes, maxBytes) => {
        const { text } = responseExcerpt(Buffer.from(bytes), maxBytes)
        expect(text).not.toMatch(/(?![\t\n\r])\p{Cc}/u)
        expect(Buffer.from(text).toString()).toBe(text)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
      }),
    )
  })

  it.each([
    ['a colour', '\u001b[31mred', '\ufffd[31mred'],
    ['a carriage return that overwrites its line', 'failed\rok', 'failed\ufffdok'],
    ['a direction that hides an ending', 'exe\u202egpj', 'exe\ufffdgpj'],
    ['a C1 control', 'a\u009bb', 'a\ufffdb'],
    ['lines and tabs', 'a\r\n\tb\nc', 'a\r\n\tb\nc'],
    ['other scripts', 'größe 東京 🦀', 'größe 東京 🦀'],
  ])('shows %s as text', (_, sent, shown) => {
    expect(responseExcerpt(Buffer.from(sent), 100).text).toBe(shown)
  })

  it('says when replacing made it too long', () => {
    expect(responseExcerpt(Buffer.alloc(9, 0xff), 9)).toEqual({
      text: '\ufffd\ufffd\ufffd',
      isTruncated: true,
    })
  })
})

describe('redaction', () => {
  it.each([
    'authorization',
    'Proxy-Authorization',
    'cookie',
    'set-cookie',
    'x-api-key',
    'apikey',
    'x-auth-token',
    'x-hub-signature-256',
    'webhook-signature',
    'client-secret',
  ])('hides the header %s', (name) => {
    expect(redactHeaders({ [name]: 'wild-salmon' })).toEqual({ [name]: '[redacted]' })
  })

  it.each(['content-type', 'idempotency-key', 'webhook-id', 'x-correlation-id', 'traceparent'])(
    'shows the header %s',
    (name) => {
      expect(redactHeaders({ [name]: 'plain' })).toEqual({ [name]: 'plain' })
    },
  )

  it('joins repeated headers', () => {
    expect(redactHeaders({ via: ['a', 'b'], absent: undefined })).toEqual({ via: 'a, b' })
  })

  it('hides every value of a secret query parameter and changes nothing else', () => {
    const url = new URL('https://crm.example/hooks?sig=a&page=2&token=b&token=c')
    expect(redactUrl(url)).toBe(
      'https://crm.example/hooks?sig=%5Bredacted%5D&page=2&token=%5Bredacted%5D&token=%5Bredacted%5D',
    )
    const own = new URL('https://crm.example/hooks?page=2&wild-salmon&x=1')
    expect(redactUrl(own, new Set(['page', 'wild-salmon']))).toBe(
      'https://crm.example/hooks?page=%5Bredacted%5D&%5Bredacted%5D&x=1',
    )
    expect(redactUrl(new URL('https://crm.example:8443/a/wild-salmon?x=1'), new Set(), true)).toBe(
      'https://crm.example:8443/%5Bredacted%5D',
    )
    expect(redactUrl(new URL('https://crm.example/a%20b?x=1+2'))).toBe('https://crm.example/a%20b?x=1+2')
  })
})
