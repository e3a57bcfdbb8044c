import pRetry from 'p-retry';

const [method, url] = process.argv.slice(2);
await pRetry(async () => {
  const answer = await fetch(url, { method });
  await answer.text();
  if (!answer.ok) throw new Error(`status ${answer.status}`);
});
