import java.io.IOException;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;

/** Two calls, one after the other, over one connection as far as it lasts. */
class HttpClient5Twice {
    public static void main(String[] args) throws Exception {
        ClassicRequestBuilder request = ClassicRequestBuilder.create(args[0]).setUri(args[1]);
        if (args[0].equals("POST")) {
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
        System.exit(failed ? 1 : 0);
    }
}
