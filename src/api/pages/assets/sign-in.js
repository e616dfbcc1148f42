const problem = document.getElementById('problem')
const button = document.querySelector('button')

/** What is wrong, in words; nothing when somebody is signed in now. */
async function begin(body) {
  try {
    const response = await fetch('/session', {
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
    location.replace('/')
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

// A link that signs in once has its token behind the #, where no server and no log on the way sees it.
const token = location.hash.slice(1)
if (token !== '') {
  history.replaceState(null, '', '/sign-in')
  void signIn({ token })
}
