import java.io.IOException;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** Two calls, one after the other, over one connection as far as it lasts. */
class OkHttpTwice {
    public static void main(String[] args) {
        RequestBody body = args[0].equals("POST") ? RequestBody.create("{\"status\":\"on-shift\"}", null) : null;
        Request request = new Request.Builder().url(args[1]).method(args[0], body).build();
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
        System.exit(failed ? 1 : 0);
    }
}
