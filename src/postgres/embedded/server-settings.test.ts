import { expect, test } from 'vitest'
import { renderServerSettings } from './server-settings.ts'

test('durability is on, and compression only where it is compiled in', () => {
  const text = renderServerSettings({ port: 5544, supportsLz4: false })
  for (const line of [
    "fsync = 'on'",
    "synchronous_commit = 'on'",
    "full_page_writes = 'on'",
    "port = '5544'",
  ]) {
    expect(text).toContain(`\n${line}\n`)
  }
  expect(text).toContain("wal_compression = 'off'")
  expect(renderServerSettings({ port: 1, supportsLz4: true })).toContain("wal_compression = 'lz4'")
})

test('extra settings win, and quotes in them do no harm', () => {
  const text = renderServerSettings({
    port: 1,
    supportsLz4: false,
    settings: { jit: 'on', log_line_prefix: "'%m" },
  })
  expect(text).toContain("jit = 'on'")
  expect(text).not.toContain("jit = 'off'")
  expect(text).toContain("log_line_prefix = '''%m'")
})
