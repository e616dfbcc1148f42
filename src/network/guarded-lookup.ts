import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { type NetworkRules, refusalOfAddress } from './network-rules.ts'

/** Limits the addresses tried per host name: the name's owner controls how many there are, and each is checked for each waiting connection. */
const maxAddresses = 16

type LookupAll = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/**
 * Resolves a name and checks every address of the result. The socket connects to an address of this same result, so a
 * name that changes between check and connection can't bypass the check. One refused address refuses the name: a name
 * with both public and private addresses is a mistake or an attack.
 */
export function guardedLookup(rules: NetworkRules, resolve: LookupFunction): LookupFunction {
  const lookupAll = sharedLookup(resolve)
  return (hostname, options, callback) => {
    lookupAll(hostname, options.family, (error, addresses) => {
      if (error !== null) return callback(error, '', 0)
      for (const { address } of addresses) {
        const refusal = refusalOfAddress(address, rules, hostname)
        if (refusal !== null) return callback(refusal, '', 0)
      }
      const [first] = addresses
      if (first === undefined) return callback(noAddress(hostname), '', 0)
      if (options.all === true) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
}

/**
 * Concurrent look-ups of one name share one query. getaddrinfo has four threads for the whole process: without sharing, the sixty-four connections of
 * one endpoint whose name server is silent would keep every other endpoint from resolving.
 */
function sharedLookup(
  resolve: LookupFunction,
): (hostname: string, family: number | 'IPv4' | 'IPv6' | undefined, callback: LookupAll) => void {
  const waiting = new Map<string, LookupAll[]>()
  return (hostname, family, callback) => {
    const key = `${family ?? 0} ${hostname}`
    const others = waiting.get(key)
    if (others !== undefined) {
      others.push(callback)
      return
    }
    waiting.set(key, [callback])
    resolve(hostname, { all: true, ...(family !== undefined && { family }) }, (error, answer) => {
      const callbacks = waiting.get(key) ?? []
      waiting.delete(key)
      const addresses = Array.isArray(answer)
        ? answer.slice(0, maxAddresses)
        : [{ address: answer, family: 0 }]
      for (const waiter of callbacks) waiter(error, error === null ? [...addresses] : [])
    })
  }
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENODATA' })
}
