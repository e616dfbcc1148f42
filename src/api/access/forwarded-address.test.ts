import { describe, expect, it } from 'vitest'
import { ForwardedAddress } from './forwarded-address.ts'

const proxies = new ForwardedAddress(['10.0.0.0/8', 'fd00::/8'])

describe('the address of a caller', () => {
  it.each([
    ['without a header, the socket', '10.0.0.1', undefined, '10.0.0.1'],
    ['from somebody who is no proxy, the socket', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['behind one proxy, what it wrote', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['behind two, what the outer one wrote', '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['not what the caller made up', '10.0.0.1', '127.0.0.1, 192.0.2.7, 198.51.100.1', '198.51.100.1'],
    ['with everybody trusted, the farthest', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['without a port', '10.0.0.1', '198.51.100.1:50123', '198.51.100.1'],
    ['in brackets', '10.0.0.1', '[2001:db8::7]:443', '2001:db8::7'],
    ['of another family', 'fd00::1', '198.51.100.1', '198.51.100.1'],
    ['of an IPv4 proxy on an IPv6 socket', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['before what is no address', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['of a header that is nothing', '10.0.0.1', ' , ,', '10.0.0.1'],
  ])('%s', (_, socket, header, expected) => {
    expect(proxies.of(socket, header)).toBe(expected)
  })

  it('is the socket when no proxy is trusted', () => {
    expect(new ForwardedAddress([]).of('10.0.0.1', '198.51.100.1')).toBe('10.0.0.1')
  })

  it('looks at the last sixteen hops only', () => {
    const header = `198.51.100.1${', 10.0.0.9'.repeat(5000)}`
    expect(proxies.of('10.0.0.1', header)).toBe('10.0.0.9')
  })
})
