import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** One call with the client as it comes. */
class JdkUrlConnection {
    public static void main(String[] args) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) new URL(args[1]).openConnection();
        connection.setRequestMethod(args[0]);
        if (args[0].equals("POST")) {
            connection.setDoOutput(true);
            connection.getOutputStream().write("{\"status\":\"on-shift\"}".getBytes(StandardCharsets.UTF_8));
        }
        if (connection.getResponseCode() >= 400) {
            System.exit(1);
        }
        try (InputStream body = connection.getInputStream()) {
            body.readAllBytes();
        }
    }
}
