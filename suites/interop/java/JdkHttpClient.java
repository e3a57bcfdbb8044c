import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** One call with the client as it comes. */
class JdkHttpClient {
    public static void main(String[] args) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(args[1]))
            .method(args[0], args[0].equals("POST") ? BodyPublishers.ofString("{\"status\":\"on-shift\"}") : BodyPublishers.noBody())
            .build();
        int status = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
        System.exit(status < 400 ? 0 : 1);
    }
}
