import { describe, expect, it } from 'vitest'
import { amqpUrlProblem, brokerName, parseAmqpUrl, withoutPassword } from './amqp-url.ts'

describe('the URL of a broker', () => {
  it('names one host, or several members of a cluster', () => {
    expect(parseAmqpUrl('amqp://rabbit.example')).toEqual({
      isSecure: false,
      hosts: [{ hostname: 'rabbit.example', port: 5672 }],
      vhost: '/',
      username: null,
      password: null,
    })
    expect(parseAmqpUrl('amqps://ada:p%40,ss@one.example,two.example:5673,[::1]:80/my%2Fhost')).toEqual({
      isSecure: true,
      hosts: [
        { hostname: 'one.example', port: 5671 },
        { hostname: 'two.example', port: 5673 },
        { hostname: '::1', port: 80 },
      ],
      vhost: 'my/host',
      username: 'ada',
      password: 'p@,ss',
    })
  })

  it('is shown without its user and password', () => {
    const url = 'amqp://ada:secret@one.example,two.example:5673/orders'
    const address = parseAmqpUrl(url)
    expect(address && brokerName(address)).toBe('amqp://one.example:5672,two.example:5673/orders')
    expect(withoutPassword(url)).toBe('amqp://ada:[hidden]@one.example,two.example:5673/orders')
  })

  it.each([
    ['http://rabbit.example', 'must begin with amqp:// or amqps://'],
    ['amqp://one.example,,two.example', 'is no URL of a broker, like amqps://rabbit.example:5671/vhost'],
    ['amqp://one.example:no', 'is no URL of a broker, like amqps://rabbit.example:5671/vhost'],
    ['amqp://', 'is no URL of a broker, like amqps://rabbit.example:5671/vhost'],
    [
      'amqp://one.example?heartbeat=5',
      'must have no query and no fragment: connection settings in the URL are not supported',
    ],
    [
      'amqp://one.example,two.example/a/b',
      'must have one virtual host as its path: write a slash in its name as %2F',
    ],
    ['amqp://ada@one.example', 'must have both user name and password, or neither'],
  ])('%s %s', (url, problem) => {
    expect(amqpUrlProblem(url)).toBe(problem)
  })

  it.each(['amqp://one.example', 'amqps://ada:secret@one.example:1,two.example/%2F'])('%s is one', (url) => {
    expect(amqpUrlProblem(url)).toBeNull()
  })
})
