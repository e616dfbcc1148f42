import { describe, expect, test } from 'vitest'
import { createLogger } from './create-logger.ts'
import { redact, secretsOf } from './redact.ts'

describe('redact', () => {
  test.each([
    ['postgres://ada:s3cret@db:5432/app', 'postgres://ada:[redacted]@db:5432/app'],
    ['postgresql://ada:p@ss/word@db/app', 'postgresql://ada:[redacted]@db/app'],
    ['failed: amqp://guest:gu%40est@mq!', 'failed: amqp://guest:[redacted]@mq!'],
    ['{"url":"postgres://ada:s3cret@db/app"}', '{"url":"postgres://ada:[redacted]@db/app"}'],
    ['postgres://user:password@ss@db/app', 'postgres://user:[redacted]@db/app'],
    ['postgres://db/app?user=ada&password=s3cret&x=1', 'postgres://db/app?user=ada&password=[redacted]&x=1'],
  ])('%s loses its password only', (text, clean) => {
    expect(redact(text)).toBe(clean)
  })

  test.each([
    'postgres://ada@db:5432/app',
    'http://127.0.0.1:8420/users?mail=ada@example.com',
    'at 12:30:01 ada@example.com wrote',
    'Write it like postgres://user:password@host:5432/database.',
    'must be a URL like http://user:password@proxy.example:3128',
  ])('%s holds none and stays as it is', (text) => {
    expect(redact(text)).toBe(text)
  })

  test('a known secret is removed wherever it stands', () => {
    expect(redact('server said: p@ssw0rd is wrong', ['p@ssw0rd'])).toBe('server said: [redacted] is wrong')
  })
})

describe('the secrets of a connection string', () => {
  test('are its password as written and as meant', () => {
    expect(secretsOf('postgres://ada:p%40ssw0rd@db/app')).toEqual(['p%40ssw0rd', 'p@ssw0rd'])
  })

  test('leave out what is too short to be one', () => {
    expect(secretsOf('postgres://ada:abc@db/app')).toEqual([])
    expect(secretsOf(null)).toEqual([])
  })
})

describe.each(['json', 'pretty'] as const)('the %s log', (format) => {
  function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
    let text = ''
    const destination = { write: (line: string) => void (text += line), on() {}, once() {}, emit() {} }
    write(createLogger({ level: 'info', format, hasColor: false, secrets: ['hunter22'], destination }))
    return text
  }

  test('shows the message and its details', () => {
    const text = logged((logger) => logger.info({ endpoint: 'crm' }, 'The lane is held'))
    expect(text).toContain('The lane is held')
    expect(text).toContain('crm')
  })

  test('never shows a password, not in details, not in the stack of an error', () => {
    const error = new Error('cannot reach postgres://ada:s3cret@db/app')
    const text = logged((logger) =>
      logger.error({ error: error.stack, url: 'postgres://eve:hunter22@db' }, 'hunter22'),
    )
    expect(text).toContain('[redacted]')
    expect(text).not.toMatch(/s3cret|hunter22/)
  })

  test('leaves out what is below its level', () => {
    expect(logged((logger) => logger.debug({}, 'details'))).toBe('')
  })
})
