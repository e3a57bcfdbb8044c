import io.github.resilience4j.retry.Retry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** The defaults, around a call that throws when its status is bad. */
class Resilience4j {
    public static void main(String[] args) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(args[1]))
            .method(args[0], args[0].equals("POST") ? BodyPublishers.ofString("{\"status\":\"on-shift\"}") : BodyPublishers.noBody())
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
