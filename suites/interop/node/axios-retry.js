import axios from 'axios';
import axiosRetry from 'axios-retry';

axiosRetry(axios);

export async function call(method, url) {
  await axios.request({ method, url });
}
