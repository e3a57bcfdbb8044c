import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Retries a GET of URL after each of the waits (seconds) given. */
class Backoff {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 1; i <= args.length; i++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(args[0])).build();
            int status = client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
            if (status == 200) {
                return;
            }
            if (i == args.length || status == 400) {
                System.exit(1);
            }
            Thread.sleep(Long.parseLong(args[i]) * 1000);
        }
    }
}
