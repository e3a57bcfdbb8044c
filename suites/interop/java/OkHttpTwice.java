import java.io.IOException;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** Two calls, one after the other, over one connection as far as it lasts. */
class OkHttpTwice {
    static void call(String method, String url) throws Exception {
        RequestBody body = method.equals("POST") ? RequestBody.create("{\"status\":\"on-shift\"}", null) : null;
        Request request = new Request.Builder().url(url).method(method, body).build();
        OkHttpClient client = new OkHttpClient();
        boolean failed = false;
        for (int call = 1; call <= 2; call++) {
            try (Response response = client.newCall(request).execute()) {
                response.body().string();
                failed |= !response.isSuccessful();
            } catch (IOException e) {
                failed = true;
            }
        }
        if (failed) {
            throw new IOException("a call failed");
        }
    }
}
