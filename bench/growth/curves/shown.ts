import type { Column, Panel } from '../curve.ts'

export const ratePanel: Panel = {
  title: 'deliveries per second, published and delivered on the same cores',
  series: [{ key: 'perSecond', label: 'deliveries/s' }],
}

export const costPanel: Panel = {
  title: 'processor time per delivery, µs',
  series: [
    { key: 'nodeMicros', label: 'node' },
    { key: 'deliveringMicros', label: 'PostgreSQL, delivering' },
    { key: 'publishingMicros', label: 'PostgreSQL, publishing' },
  ],
}

export const costColumns: readonly Column[] = [
  { heading: 'deliveries/s', key: 'perSecond' },
  { heading: 'node, µs', key: 'nodeMicros' },
  { heading: 'PostgreSQL delivering, µs', key: 'deliveringMicros' },
  { heading: 'cost of delivering, µs', key: 'costMicros' },
  { heading: 'PostgreSQL publishing, µs', key: 'publishingMicros' },
  { heading: 'WAL, bytes', key: 'walBytes' },
]
