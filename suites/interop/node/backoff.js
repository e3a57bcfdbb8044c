// Retries a GET of URL after each of the waits (seconds) given.
const [url, ...waits] = process.argv.slice(2);
(async () => {
  for (const wait of [...waits, null]) {
    const answer = await fetch(url);
    await answer.text();
    if (answer.ok) return;
    if (wait === null || answer.status === 400) process.exit(1);
    await new Promise((done) => setTimeout(done, Number(wait) * 1000));
  }
})();
