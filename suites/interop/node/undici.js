import { Agent, RetryAgent, request } from 'undici';

export async function call(method, url) {
  const answer = await request(url, { method, dispatcher: new RetryAgent(new Agent()) });
  await answer.body.text();
  if (answer.statusCode >= 400) throw new Error(`status ${answer.statusCode}`);
}
