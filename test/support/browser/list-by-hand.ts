const rowPx = 40
/** Rows beyond the window, above and below. */
const beyond = 8

/** A page without a framework that, at each scroll, writes its visible rows anew: what a list costs on this machine. */
export function listByHand(rows: number): string {
  return `<!doctype html>
<style>
  #list { position: relative; height: ${rows * rowPx}px }
  .row { position: absolute; display: flex; width: 100%; height: ${rowPx}px }
  .row > * { flex: 1; overflow: hidden; padding: 8px; text-overflow: ellipsis }
</style>
<div id="list"></div>
<script>
  const list = document.getElementById('list')
  const cell = (text) => '<span>' + text + '</span>'
  const row = (k) =>
    '<div class="row" style="transform: translateY(' + k * ${rowPx} + 'px)"><a href="#' + k + '">msg_' + k + '</a>' +
    ['order.created', 'standard', 'routed', 'checkout-' + k, 100 + (k % 900) + ' B', new Date().toISOString()].map(cell).join('') + '</div>'
  const write = () => {
    const first = Math.max(0, Math.floor(scrollY / ${rowPx}) - ${beyond})
    const count = Math.ceil(innerHeight / ${rowPx}) + ${2 * beyond}
    list.innerHTML = Array.from({ length: count }, (_, place) => row(first + place)).join('')
  }
  addEventListener('scroll', write)
  write()
</script>`
}
