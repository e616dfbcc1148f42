import { expect, test } from 'vitest'
import { curlCommand } from './curl-command.ts'

test('a shell reads it as it was, quotes and all', () => {
  const request = {
    method: 'POST',
    url: 'https://crm.example.com/hooks?a=1&b=2',
    headers: { 'content-type': 'application/json' },
    body: `{"name":"O'Brien $(rm -rf /)"}`,
  }
  expect(curlCommand(request)).toBe(
    `curl -X 'POST' 'https://crm.example.com/hooks?a=1&b=2' \\\n  -H 'content-type: application/json' \\\n  --data-raw '{"name":"O'\\''Brien $(rm -rf /)"}'`,
  )
})
