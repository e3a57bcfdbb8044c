import pRetry from 'p-retry';

export async function call(method, url) {
  await pRetry(async () => {
    const answer = await fetch(url, { method });
    await answer.text();
    if (!answer.ok) throw new Error(`status ${answer.status}`);
  });
}
