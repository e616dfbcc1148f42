import { describe, expect, it } from 'vitest'
import { isPortAllowed, parsePorts, usualPorts } from './port-policy.ts'

describe('ports', () => {
  it.each([80, 443, 3000, 3001, 5000, 8000, 8080, 8420, 8443, 9000, 9200, 15_672, 49_152, 65_535])(
    '%i may be used as usual',
    (port) => expect(isPortAllowed(port, usualPorts)).toBe(true),
  )

  it.each([0, 22, 25, 53, 110, 143, 445, 587, 3306, 5432, 5672, 6379, 9042, 11_211, 27_017, 65_536])(
    '%i may not',
    (port) => expect(isPortAllowed(port, usualPorts)).toBe(false),
  )

  it('are only those that are listed, where some are', () => {
    const policy = parsePorts('443, 8000-8002,5432')!
    expect([443, 8000, 8002, 5432].every((port) => isPortAllowed(port, policy))).toBe(true)
    expect([80, 7999, 8003].some((port) => isPortAllowed(port, policy))).toBe(false)
  })

  it('are all but impossible ones with "any"', () => {
    expect(isPortAllowed(25, parsePorts('any')!)).toBe(true)
    expect(isPortAllowed(0, parsePorts('any')!)).toBe(false)
  })

  it.each(['', 'all', '0', '65536', '9-8', '80;443', '80,', '-1'])('can not be read from %j', (text) => {
    expect(parsePorts(text)).toBeNull()
  })
})
