import io.github.resilience4j.retry.Retry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** The defaults, around a call that throws when its status is bad. */
class Resilience4j {
    static void call(String method, String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
            .method(method, method.equals("POST") ? BodyPublishers.ofString("{\"status\":\"on-shift\"}") : BodyPublishers.noBody())
            .build();
        HttpClient client = HttpClient.newHttpClient();
        Retry.ofDefaults("driver").executeCallable(() -> {
            int status = client.send(request, BodyHandlers.ofString()).statusCode();
            if (status >= 400) {
                throw new IOException("status " + status);
            }
            return status;
        });
    }
}
