const problem = document.getElementById('problem')
const button = document.querySelector('button')

/** Where the user wanted to go before signing in: a path of ours, never another site. */
function destination() {
  const home = new URL('./', location.href)
  const wanted = new URL(new URLSearchParams(location.search).get('to') ?? '', home)
  return wanted.href.startsWith(home.href) ? wanted.href : home.href
}

/** Returns the error message; nothing if the user is signed in now. */
async function begin(body) {
  try {
    const response = await fetch('session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return response.ok ? '' : (await response.json()).detail
  } catch {
    return 'The server does not answer. Is it running?'
  }
}

async function signIn(body) {
  button.disabled = true
  const complaint = await begin(body)
  if (complaint === '') {
    location.replace(destination())
    return
  }
  button.disabled = false
  problem.textContent = complaint
  problem.hidden = false
}

document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void signIn({ key: document.getElementById('key').value.trim() })
})

// The token of a one-time sign-in link is in the fragment (`#…`), which no server and no log sees.
function signInByLink() {
  const token = location.hash.slice(1)
  if (token === '') return
  history.replaceState(null, '', `sign-in${location.search}`)
  void signIn({ token })
}

signInByLink()
// A link that is pasted while this page is open changes only what follows the #, and loads nothing.
addEventListener('hashchange', signInByLink)
