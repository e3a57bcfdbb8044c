import java.io.IOException;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;

/** Two calls, one after the other, over one connection as far as it lasts. */
class HttpClient5Twice {
    static void call(String method, String url) throws Exception {
        ClassicRequestBuilder request = ClassicRequestBuilder.create(method).setUri(url);
        if (method.equals("POST")) {
            request.setEntity("{\"status\":\"on-shift\"}", ContentType.APPLICATION_JSON);
        }
        boolean failed = false;
        try (CloseableHttpClient client = HttpClients.createDefault()) {
            for (int call = 1; call <= 2; call++) {
                try {
                    failed |= client.execute(request.build(), response -> {
                        EntityUtils.consume(response.getEntity());
                        return response.getCode();
                    }) >= 400;
                } catch (IOException e) {
                    failed = true;
                }
            }
        }
        if (failed) {
            throw new IOException("a call failed");
        }
    }
}
