import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestPathProblem } from './request-path.ts'

describe('a path that is appended to an endpoint’s URL', () => {
  it.each([
    '',
    '/',
    'orders/7',
    '/orders/7?full=1',
    'a..b/.well-known/..c',
    'files/a%20b%2Fc',
    '?next=/../x',
    'größe/%C3%BC',
    'a%25b',
    'caf\u00e9/\u2026/\u6771\u4eac/\u{1f680}',
    '%e6%9d%b1%e4%ba%ac/%f0%9f%9a%80',
    'caf%e9',
  ])('may be %s', (path) => {
    expect(requestPathProblem(path)).toBeNull()
  })

  it.each([
    '..',
    '/../admin',
    'orders/../../admin',
    './x',
    'orders/.',
    '%2e%2e/admin',
    '.%2E/admin',
    'orders/%2e%2e%2fadmin',
    '%252e%252e/admin',
    '%25252e%25252e/admin',
    '..%2fadmin',
    '..\\admin',
    '..%5cadmin',
    '%5c..%5cadmin',
    'orders\\..\\admin',
    '..;/admin',
    '..;x=1/admin',
    '%2e%2e;/admin',
    '//evil.example/x',
    'https://evil.example/x',
    'javascript:alert(1)',
    'x#y',
    'x%00',
    'x%0d%0ahost:evil',
    '%c0%ae%c0%ae/admin',
    '%c0%2e%c0%2e/admin',
    '..%c0%afadmin',
    '..%c1%9cadmin',
    '%e0%80%ae%e0%80%ae/admin',
    '%f0%80%80%ae./admin',
    '%f8%80%80%80%ae./admin',
    '%25c0%25ae./admin',
    '%u002e%u002e/admin',
    '%uff0e%uff0e/admin',
    '..%uff0fadmin',
    '\uff0e\uff0e/admin',
    '\u2024\u2024/admin',
    '%ef%bc%8e%ef%bc%8e/admin',
    '..%ef%bc%8fadmin',
    '..%ef%bc%bcadmin',
  ])('may not be %s', (path) => {
    expect(requestPathProblem(path)).toMatch(/^must /)
  })

  it('stays below the URL, however often it is decoded', () => {
    const part = fc.constantFrom(
      '.',
      '..',
      '/',
      '\\',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '%252e',
      '%25',
      ';',
      'a',
      '?',
      '%',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
        const path = parts.join('')
        if (requestPathProblem(path) !== null) return
        let pathname = path.split('?', 1)[0] ?? ''
        for (let round = 0; round < 4; round += 1) {
          expect(new URL(`http://x.example/base/${pathname.replace(/^\//, '')}`).pathname).toMatch(
            /^\/base\//,
          )
          pathname = pathname.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
            String.fromCharCode(Number.parseInt(digits, 16)),
          )
        }
      }),
      { numRuns: 2000 },
    )
  })
})
