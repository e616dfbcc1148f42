/** Headers that frame a request: setting them elsewhere would break it. */
export const framingHeaders = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const

const framing: ReadonlySet<string> = new Set(framingHeaders)

/** Whether only Holdfast may set this header, because it frames the request or carries its identity. Takes a lower-case name. */
export function isReservedHeader(name: string): boolean {
  return framing.has(name) || name.startsWith('webhook-') || name.startsWith('holdfast-')
}
