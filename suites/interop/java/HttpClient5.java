import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;

/** One call with the client as it comes. */
class HttpClient5 {
    public static void main(String[] args) throws Exception {
        ClassicRequestBuilder request = ClassicRequestBuilder.create(args[0]).setUri(args[1]);
        if (args[0].equals("POST")) {
            request.setEntity("{\"status\":\"on-shift\"}", ContentType.APPLICATION_JSON);
        }
        try (CloseableHttpClient client = HttpClients.createDefault()) {
            int status = client.execute(request.build(), response -> {
                EntityUtils.consume(response.getEntity());
                return response.getCode();
            });
            System.exit(status < 400 ? 0 : 1);
        }
    }
}
