import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** One call with the client as it comes. */
class JdkHttpClient {
    static void call(String method, String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
            .method(method, method.equals("POST") ? BodyPublishers.ofString("{\"status\":\"on-shift\"}") : BodyPublishers.noBody())
            .build();
        int status = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
        if (status >= 400) {
            throw new IOException("status " + status);
        }
    }
}
