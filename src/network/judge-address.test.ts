import { BlockList, isIP } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatIpv4, parseHostAddress, parseIpAddress } from '../core/network/ip-address.ts'
import { judgeAddress } from '../core/network/judge-address.ts'
import { isInNetwork, type Network, parseNetwork, withoutMapping } from '../core/network/network.ts'

const network = (text: string): Network => withoutMapping(parseNetwork(text)!)
const judge = (text: string, ...allowed: string[]) =>
  judgeAddress(parseIpAddress(text)!, allowed.map(network))

describe('reading an address', () => {
  const almostAddress = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.stringMatching(/^[0-9a-fx:.%]{0,24}$/),
    fc.stringMatching(/^(?:[0-9]{1,4}\.){2,4}[0-9]{1,4}$/),
    fc.stringMatching(/^(?:[0-9a-f]{0,5}:){2,8}[0-9a-f.]{0,5}$/),
  )

  it('takes exactly what Node.js takes for one', () => {
    fc.assert(
      fc.property(almostAddress, (text) => {
        expect(parseIpAddress(text)?.family ?? 0).toBe(isIP(text))
      }),
      { numRuns: 3_000 },
    )
  })

  it('finds the same networks that Node.js finds', () => {
    const prefixed = fc.oneof(
      fc.record({
        base: fc.ipV4(),
        address: fc.ipV4(),
        prefix: fc.nat(32),
        kind: fc.constant('ipv4' as const),
      }),
      fc.record({
        base: fc.ipV6(),
        address: fc.ipV6(),
        prefix: fc.nat(128),
        kind: fc.constant('ipv6' as const),
      }),
    )
    fc.assert(
      fc.property(prefixed, fc.boolean(), ({ base, address, prefix, kind }, isSame) => {
        const candidate = isSame ? base : address
        const list = new BlockList()
        list.addSubnet(base, prefix, kind)
        const parsed = parseNetwork(`${base}/${prefix}`)!
        expect(isInNetwork(parseIpAddress(candidate)!, parsed)).toBe(list.check(candidate, kind))
      }),
    )
  })

  it('reads loose spellings as URL parsers do', () => {
    const part = fc
      .tuple(fc.nat(0xffffffff), fc.constantFrom('decimal', 'octal', 'hex'), fc.nat(3))
      .map(([value, base, zeros]) => {
        if (base === 'hex') return `0x${'0'.repeat(zeros)}${value.toString(16)}`
        return base === 'octal' ? `0${'0'.repeat(zeros)}${value.toString(8)}` : String(value)
      })
    const small = fc.nat(300).map(String)
    const host = fc
      .tuple(fc.array(fc.oneof(small, part), { maxLength: 4 }), part)
      .map(([first, last]) => [...first, last].join('.'))
    fc.assert(
      fc.property(host, (text) => {
        const address = parseHostAddress(text)
        const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`).hostname : null
        expect(address === null ? null : formatIpv4(address.value)).toBe(url)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    '',
    'crm.example',
    '127.0.0.1.nip.io',
    '1.2.3.4.5',
    '256.1.1.1.',
    '0x',
    '09.1.1.1',
    '::g',
    '1::2::3',
  ])('takes %j for no plain address', (text) => expect(parseIpAddress(text)).toBeNull())

  it('takes a zone, which says on which link and not where', () => {
    expect(judge('fe80::1%eth0')?.network).toBe('fe80::/10')
  })
})

describe('the allow-list', () => {
  it('allows what it names and nothing beside it', () => {
    expect(judge('10.1.2.3', '10.1.0.0/16')).toBeNull()
    expect(judge('10.2.2.3', '10.1.0.0/16')?.network).toBe('10.0.0.0/8')
    expect(judge('127.0.0.1', '127.0.0.1')).toBeNull()
    expect(judge('127.0.0.2', '127.0.0.1')).not.toBeNull()
  })

  it('allows a mapped or translated form of what it allows', () => {
    expect(judge('::ffff:10.1.2.3', '10.0.0.0/8')).toBeNull()
    expect(judge('64:ff9b::10.1.2.3', '10.0.0.0/8')).toBeNull()
    expect(judge('10.1.2.3', '::ffff:10.0.0.0/104')).toBeNull()
  })

  it("lets the loopback address through that is allowed, which isn't a form of 0.0.0.1", () => {
    expect(judge('::1')?.network).toBe('::1')
    expect(judge('::1', '::1/128')).toBeNull()
    expect(judge('::', '::1/128')).not.toBeNull()
    expect(judge('::7f00:1', '::1/128')).not.toBeNull()
  })

  it('opens a metadata service only by its own address', () => {
    for (const wide of ['fd00::/8', '::/0']) expect(judge('fd00:ec2::254', wide)).not.toBeNull()
    for (const wide of ['169.254.0.0/16', '0.0.0.0/0']) {
      expect(judge('169.254.169.254', wide)).toMatchObject({ network: '169.254.169.254' })
      expect(judge('::ffff:169.254.169.254', wide)).not.toBeNull()
    }
    expect(judge('169.254.169.254', '169.254.169.254')).toBeNull()
    expect(judge('fd00:ec2::254', 'fd00:ec2::254/128')).toBeNull()
  })

  it('opens a tunnel only together with what it leads to', () => {
    expect(judge('2002:a00:1::', '2002::/16')).toMatchObject({ network: '10.0.0.0/8', leadsTo: '10.0.0.1' })
    expect(judge('2002:a00:1::', '2002::/16', '10.0.0.0/8')).toBeNull()
    expect(judge('2002:808:808::', '2002::/16')).toBeNull()
  })

  it('changes nothing for public addresses', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.nat(32), (address, base, prefix) => {
        if (judge(address) === null) expect(judge(address, `${base}/${prefix}`)).toBeNull()
      }),
    )
  })
})

describe('a network', () => {
  it.each([
    '10.0.0.0/33',
    'private',
    '10.0.0.0/8/8',
    'fd00::/129',
    '',
    '10.0.0.0/',
    '10.0.0.0/08',
    '[::1]/128',
    'fe80::1%1',
  ])('is never read from %j', (text) => expect(parseNetwork(text)).toBeNull())
})
