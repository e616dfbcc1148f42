import tls from 'node:tls'
import type { TlsConfig } from './http-config.ts'
import { requireSecret } from './require-secret.ts'

/** What is wrong with a certificate and its key, as far as both are available; a stored key isn't. */
export function clientCertificateProblem(config: TlsConfig): string | null {
  const { cert, key, passphrase, ca } = config
  if ((cert === undefined) !== (key === undefined)) return 'needs cert and key together'
  if (passphrase !== undefined && key === undefined) return 'has a passphrase but no key'
  const isAtHand = typeof key === 'string' && (passphrase === undefined || typeof passphrase === 'string')
  try {
    tls.createSecureContext({
      ...(cert !== undefined && { cert }),
      ...(ca !== undefined && { ca }),
      ...(isAtHand && { key, ...(typeof passphrase === 'string' && { passphrase }) }),
    })
    return null
  } catch (error) {
    return `can not be used: ${reasonOf(error)}`
  }
}

/** TLS options for the socket. */
export function tlsOptions(config: TlsConfig): tls.ConnectionOptions {
  const { cert, key, passphrase, ca } = config
  return {
    ...(cert !== undefined && { cert }),
    ...(ca !== undefined && { ca }),
    ...(key !== undefined && { key: requireSecret(key, 'tls.key') }),
    ...(passphrase !== undefined && { passphrase: requireSecret(passphrase, 'tls.passphrase') }),
  }
}

/** OpenSSL's error names the problem, never the text that it read. */
function reasonOf(error: unknown): string {
  const { reason, message } = error as { reason?: string; message: string }
  if (message.includes('key values mismatch')) return 'the key does not belong to the certificate'
  return reason ?? message.split('\n', 1)[0] ?? 'OpenSSL refuses it'
}
