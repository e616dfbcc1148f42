import { constants } from 'node:crypto'
import tls from 'node:tls'
import { limitRecords } from './limit-records.ts'

/**
 * Key exchanges whose cost the peer can't raise. Finite-field ones are left out, because the peer chooses the size of their numbers: a modulus of
 * 10,000 bits took 610 ms of one turn of the event loop, and `ffdhe8192` in TLS 1.3 took 90 (measured). A server without elliptic curves can use RSA.
 */
const ciphers = `${tls.DEFAULT_CIPHERS}:!kDHE`
const ellipticCurves = 'X25519:P-256:P-384:P-521'

/** From version 3.5, OpenSSL's own list has no finite field beyond 3,072 bits, and begins with a key exchange that our list would lack. */
const hasSmallGroups = versionOf(process.versions.openssl) >= 3.05

const bounded: tls.ConnectionOptions = {
  ciphers,
  ...(!hasSmallGroups && { ecdhCurve: ellipticCurves }),
  // Otherwise a server with TLS 1.2 may request one handshake after the other.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
}

/** The only place that starts TLS with a peer whom the operator hasn't chosen: it can't make the event loop wait. */
export function connectTls(options: tls.ConnectionOptions): tls.TLSSocket {
  const socket = tls.connect({ ...bounded, ...options })
  limitRecords(socket)
  return socket
}

function versionOf(text: string): number {
  const [major = '0', minor = '0'] = text.split('.')
  return Number(major) + Number(minor) / 100
}
