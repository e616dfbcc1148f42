/** The body of all contenders: about 200 bytes of JSON, depending on the digits of its sequence number. */
export interface Payload {
  sequence: number
  type: string
  order: string
  customer: { id: string }
  lines: { sku: string; quantity: number }[]
  totalCents: number
  note: string
}

export function makePayload(sequence: number): Payload {
  return {
    sequence,
    type: 'order.paid',
    order: 'ord_7f3a91c4',
    customer: { id: 'cus_18c2' },
    lines: [
      { sku: 'HF-100', quantity: 2 },
      { sku: 'HF-205', quantity: 1 },
    ],
    totalCents: 12_990,
    note: 'side door',
  }
}

export function makePayloads(count: number): Payload[] {
  return Array.from({ length: count }, (_, sequence) => makePayload(sequence))
}

export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = []
  for (let start = 0; start < items.length; start += size) batches.push(items.slice(start, start + size))
  return batches
}
