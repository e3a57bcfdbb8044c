import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.Date;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLException;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.ResponseBody;

/** Reports a driver's status to the backend: what may pass is tried four times, what will not pass is not. */
class Good {
    private static final Set<Integer> PASSING = Set.of(429, 500, 502, 503, 504);
    private static final int ATTEMPTS = 4;
    private static final Duration LONGEST = Duration.ofSeconds(25); // for the whole call

    static class RetryInterceptor implements Interceptor {
        @Override
        public Response intercept(Chain chain) throws IOException {
            // The key tells the backend that an attempt is not a second report.
            Request request = chain.request().newBuilder().header("Idempotency-Key", UUID.randomUUID().toString()).build();
            long end = System.currentTimeMillis() + LONGEST.toMillis();
            for (int attempt = 1; ; attempt++) {
                long wait = backoff(attempt);
                try {
                    Response response = whole(chain.proceed(request));
                    wait = Math.max(wait, asked(response));
                    if (!PASSING.contains(response.code()) || attempt == ATTEMPTS || System.currentTimeMillis() + wait > end) {
                        return response;
                    }
                } catch (ProtocolException | SSLException e) {
                    throw e; // the next attempt would end alike
                } catch (IOException e) {
                    if (chain.call().isCanceled() || attempt == ATTEMPTS || System.currentTimeMillis() + wait > end) {
                        throw e;
                    }
                }
                sleep(wait);
            }
        }
    }

    /** The answer with its body, so that one that breaks off is a failed attempt too. */
    static Response whole(Response response) throws IOException {
        ResponseBody body = response.body();
        return response.newBuilder().body(ResponseBody.create(body.bytes(), body.contentType())).build();
    }

    /** The wait after an attempt: 1, 2 or 4 s and up to half of that in addition, in ms. */
    static long backoff(int attempt) {
        return (long) (1000 * Math.pow(2, attempt - 1) * (1 + ThreadLocalRandom.current().nextDouble(0.5)));
    }

    /** The wait that the backend asked for, in ms; 0 without one. */
    static long asked(Response response) {
        String value = response.header("Retry-After", "");
        if (value.matches("\\d{1,9}")) {
            return Long.parseLong(value) * 1000;
        }
        Date date = response.headers().getDate("Retry-After");
        return date == null ? 0 : date.getTime() - System.currentTimeMillis();
    }

    static void sleep(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    public static void main(String[] args) throws IOException {
        OkHttpClient client = new OkHttpClient.Builder()
            .addInterceptor(new RetryInterceptor())
            .retryOnConnectionFailure(false) // in one layer only
            .readTimeout(Duration.ofSeconds(5))
            .callTimeout(LONGEST)
            .build();
        RequestBody status = RequestBody.create("{\"driver\":17,\"status\":\"free\"}", MediaType.get("application/json"));
        try (Response response = client.newCall(new Request.Builder().url(args[0]).post(status).build()).execute()) {
            if (!response.isSuccessful()) {
                throw new IOException("status " + response.code());
            }
            System.out.println(response.body().string());
        }
    }
}
