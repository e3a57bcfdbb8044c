import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** Chosen statuses and broken connections, an exponential backoff with jitter, and a time limit, around OkHttp. */
class Resilience4jBackoff {
    private static final Set<Integer> PASSING = Set.of(429, 500, 502, 503, 504);

    static void call(String method, String url) throws Exception {
        RequestBody body = method.equals("POST") ? RequestBody.create("{\"status\":\"on-shift\"}", null) : null;
        Request request = new Request.Builder().url(url).method(method, body).build();
        OkHttpClient client = new OkHttpClient.Builder().callTimeout(Duration.ofSeconds(5)).build();
        RetryConfig config = RetryConfig.<Integer>custom()
            .maxAttempts(3)
            .intervalFunction(IntervalFunction.ofExponentialRandomBackoff(Duration.ofSeconds(1), 2, 0.5))
            .retryExceptions(IOException.class)
            .retryOnResult(PASSING::contains)
            .build();
        int status = Retry.of("driver", config).executeCallable(() -> {
            try (Response response = client.newCall(request).execute()) {
                response.body().string();
                return response.code();
            }
        });
        if (status >= 400) {
            throw new IOException("status " + status);
        }
    }
}
