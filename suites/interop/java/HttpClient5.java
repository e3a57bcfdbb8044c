import java.io.IOException;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;

/** One call with the client as it comes. */
class HttpClient5 {
    static void call(String method, String url) throws Exception {
        ClassicRequestBuilder request = ClassicRequestBuilder.create(method).setUri(url);
        if (method.equals("POST")) {
            request.setEntity("{\"status\":\"on-shift\"}", ContentType.APPLICATION_JSON);
        }
        try (CloseableHttpClient client = HttpClients.createDefault()) {
            int status = client.execute(request.build(), response -> {
                EntityUtils.consume(response.getEntity());
                return response.getCode();
            });
            if (status >= 400) {
                throw new IOException("status " + status);
            }
        }
    }
}
