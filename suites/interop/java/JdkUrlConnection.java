import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** One call with the client as it comes. */
class JdkUrlConnection {
    static void call(String method, String url) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setRequestMethod(method);
        if (method.equals("POST")) {
            connection.setDoOutput(true);
            connection.getOutputStream().write("{\"status\":\"on-shift\"}".getBytes(StandardCharsets.UTF_8));
        }
        if (connection.getResponseCode() >= 400) {
            throw new IOException("status " + connection.getResponseCode());
        }
        try (InputStream body = connection.getInputStream()) {
            body.readAllBytes();
        }
    }
}
