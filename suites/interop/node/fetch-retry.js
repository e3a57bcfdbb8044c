import fetchRetry from 'fetch-retry';

export async function call(method, url) {
  const answer = await fetchRetry(fetch)(url, { method });
  await answer.text();
  if (!answer.ok) throw new Error(`status ${answer.status}`);
}
